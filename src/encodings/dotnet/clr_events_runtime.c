/* Events of Microsoft-Windows-DotNETRuntime.  Made by tools/make-clr-events; how fields are spelled
 * stands in clr_events.h. */
#include "encodings/dotnet/clr_events.h"

const struct clr_event clr_runtime_events[] = {
    {1, 0, "GCStart", "Count:u4 Reason:u4=GCReasonMap"},
    {1, 1, "GCStart", "Count:u4 Depth:u4 Reason:u4=GCReasonMap Type:u4=GCTypeMap ClrInstanceID:u2"},
    {1, 2, "GCStart",
     "Count:u4 Depth:u4 Reason:u4=GCReasonMap Type:u4=GCTypeMap ClrInstanceID:u2 "
     "ClientSequenceNumber:u8"},
    {2, 0, "GCEnd", "Count:u4 Depth:u2"},
    {2, 1, "GCEnd", "Count:u4 Depth:u4 ClrInstanceID:u2"},
    {3, 0, "GCRestartEEEnd", ""},
    {3, 1, "GCRestartEEEnd", "ClrInstanceID:u2"},
    {4, 0, "GCHeapStats",
     "GenerationSize0:u8 TotalPromotedSize0:u8 GenerationSize1:u8 TotalPromotedSize1:u8 "
     "GenerationSize2:u8 TotalPromotedSize2:u8 "
     "GenerationSize3:u8 TotalPromotedSize3:u8 FinalizationPromotedSize:u8 "
     "FinalizationPromotedCount:u8 PinnedObjectCount:u4 "
     "SinkBlockCount:u4 GCHandleCount:u4"},
    {4, 1, "GCHeapStats",
     "GenerationSize0:u8 TotalPromotedSize0:u8 GenerationSize1:u8 TotalPromotedSize1:u8 "
     "GenerationSize2:u8 TotalPromotedSize2:u8 "
     "GenerationSize3:u8 TotalPromotedSize3:u8 FinalizationPromotedSize:u8 "
     "FinalizationPromotedCount:u8 PinnedObjectCount:u4 "
     "SinkBlockCount:u4 GCHandleCount:u4 ClrInstanceID:u2"},
    {4, 2, "GCHeapStats",
     "GenerationSize0:u8 TotalPromotedSize0:u8 GenerationSize1:u8 TotalPromotedSize1:u8 "
     "GenerationSize2:u8 TotalPromotedSize2:u8 "
     "GenerationSize3:u8 TotalPromotedSize3:u8 FinalizationPromotedSize:u8 "
     "FinalizationPromotedCount:u8 PinnedObjectCount:u4 "
     "SinkBlockCount:u4 GCHandleCount:u4 ClrInstanceID:u2 GenerationSize4:u8 "
     "TotalPromotedSize4:u8"},
    {5, 0, "GCCreateSegment", "Address:u8 Size:u8 Type:u4=GCSegmentTypeMap"},
    {5, 1, "GCCreateSegment", "Address:u8 Size:u8 Type:u4=GCSegmentTypeMap ClrInstanceID:u2"},
    {6, 0, "GCFreeSegment", "Address:u8"},
    {6, 1, "GCFreeSegment", "Address:u8 ClrInstanceID:u2"},
    {7, 0, "GCRestartEEBegin", ""},
    {7, 1, "GCRestartEEBegin", "ClrInstanceID:u2"},
    {8, 0, "GCSuspendEEEnd", ""},
    {8, 1, "GCSuspendEEEnd", "ClrInstanceID:u2"},
    {9, 0, "GCSuspendEEBegin", "Reason:u2=GCSuspendEEReasonMap"},
    {9, 1, "GCSuspendEEBegin", "Reason:u4=GCSuspendEEReasonMap Count:u4 ClrInstanceID:u2"},
    {10, 0, "GCAllocationTick", "AllocationAmount:u4 AllocationKind:u4=GCAllocationKindMap"},
    {10, 1, "GCAllocationTick",
     "AllocationAmount:u4 AllocationKind:u4=GCAllocationKindMap ClrInstanceID:u2"},
    {10, 2, "GCAllocationTick",
     "AllocationAmount:u4 AllocationKind:u4=GCAllocationKindMap ClrInstanceID:u2 "
     "AllocationAmount64:u8 TypeID:p TypeName:z "
     "HeapIndex:u4"},
    {10, 3, "GCAllocationTick",
     "AllocationAmount:u4 AllocationKind:u4=GCAllocationKindMap ClrInstanceID:u2 "
     "AllocationAmount64:u8 TypeID:p TypeName:z "
     "HeapIndex:u4 Address:p"},
    {10, 4, "GCAllocationTick",
     "AllocationAmount:u4 AllocationKind:u4 ClrInstanceID:u2 AllocationAmount64:u8 TypeID:u8 "
     "TypeName:z HeapIndex:u4 Address:u8 "
     "ObjectSize:u8"},
    {11, 0, "GCCreateConcurrentThread", ""},
    {11, 1, "GCCreateConcurrentThread", "ClrInstanceID:u2"},
    {12, 0, "GCTerminateConcurrentThread", ""},
    {12, 1, "GCTerminateConcurrentThread", "ClrInstanceID:u2"},
    {13, 0, "GCFinalizersEnd", "Count:u4"},
    {13, 1, "GCFinalizersEnd", "Count:u4 ClrInstanceID:u2"},
    {14, 0, "GCFinalizersBegin", ""},
    {14, 1, "GCFinalizersBegin", "ClrInstanceID:u2"},
    {15, 0, "BulkType",
     "Count:u4 ClrInstanceID:u2 Values*Count{TypeID:u8 ModuleID:u8 TypeNameID:u4 "
     "Flags:u4=TypeFlagsMap CorElementType:u1 Name:z "
     "TypeParameterCount:u4 TypeParameters*TypeParameterCount:u8}"},
    {16, 0, "GCBulkRootEdge",
     "Index:u4 Count:u4 ClrInstanceID:u2 Values*Count{RootedNodeAddress:p "
     "GCRootKind:u1=GCRootKindMap GCRootFlag:u4=GCRootFlagsMap "
     "GCRootID:p}"},
    {17, 0, "GCBulkRootConditionalWeakTableElementEdge",
     "Index:u4 Count:u4 ClrInstanceID:u2 Values*Count{GCKeyNodeID:p GCValueNodeID:p GCRootID:p}"},
    {18, 0, "GCBulkNode",
     "Index:u4 Count:u4 ClrInstanceID:u2 Values*Count{Address:p Size:u8 TypeID:u8 EdgeCount:u8}"},
    {19, 0, "GCBulkEdge",
     "Index:u4 Count:u4 ClrInstanceID:u2 Values*Count{Value:p ReferencingFieldID:u4}"},
    {20, 0, "GCSampledObjectAllocationHigh",
     "Address:p TypeID:p ObjectCountForTypeSample:u4 TotalSizeForTypeSample:u8 ClrInstanceID:u2"},
    {21, 0, "GCBulkSurvivingObjectRanges",
     "Index:u4 Count:u4 ClrInstanceID:u2 Values*Count{RangeBase:p RangeLength:u8}"},
    {22, 0, "GCBulkMovedObjectRanges",
     "Index:u4 Count:u4 ClrInstanceID:u2 Values*Count{OldRangeBase:p NewRangeBase:p "
     "RangeLength:u8}"},
    {23, 0, "GCGenerationRange",
     "Generation:u1 RangeStart:p RangeUsedLength:u8 RangeReservedLength:u8 ClrInstanceID:u2"},
    {25, 0, "GCMarkStackRoots", "HeapNum:u4 ClrInstanceID:u2"},
    {26, 0, "GCMarkFinalizeQueueRoots", "HeapNum:u4 ClrInstanceID:u2"},
    {27, 0, "GCMarkHandles", "HeapNum:u4 ClrInstanceID:u2"},
    {28, 0, "GCMarkOlderGenerationRoots", "HeapNum:u4 ClrInstanceID:u2"},
    {29, 0, "FinalizeObject", "TypeID:p ObjectID:p ClrInstanceID:u2"},
    {30, 0, "SetGCHandle",
     "HandleID:p ObjectID:p Kind:u4=GCHandleKindMap Generation:u4 AppDomainID:u8 ClrInstanceID:u2"},
    {31, 0, "DestroyGCHandle", "HandleID:p ClrInstanceID:u2"},
    {32, 0, "GCSampledObjectAllocationLow",
     "Address:p TypeID:p ObjectCountForTypeSample:u4 TotalSizeForTypeSample:u8 ClrInstanceID:u2"},
    {33, 0, "PinObjectAtGCTime", "HandleID:p ObjectID:p ObjectSize:u8 TypeName:z ClrInstanceID:u2"},
    {34, 0, "PinPlugAtGCTime", "PlugStart:p PlugEnd:p GapBeforeSize:p ClrInstanceID:u2"},
    {35, 0, "GCTriggered", "Reason:u4=GCReasonMap ClrInstanceID:u2"},
    {36, 0, "GCBulkRootCCW",
     "Count:u4 ClrInstanceID:u2 Values*Count{GCRootID:u8 ObjectID:u8 TypeID:u8 IUnknown:u8 "
     "RefCount:u4 PeggedRefCount:u4 "
     "Flags:u4=GCRootCCWFlagsMap}"},
    {37, 0, "GCBulkRCW",
     "Count:u4 ClrInstanceID:u2 Values*Count{ObjectID:u8 TypeID:u8 IUnknown:u8 VTable:u8 "
     "RefCount:u4 Flags:u4=GCRootRCWFlagsMap}"},
    {38, 0, "GCBulkRootStaticVar",
     "Count:u4 AppDomainID:u8 ClrInstanceID:u2 Values*Count{GCRootID:u8 ObjectID:u8 TypeID:u8 "
     "Flags:u4=GCRootStaticVarFlagsMap "
     "FieldName:z}"},
    {39, 0, "GCDynamicEvent", "Name:z DataSize:u4 Data*DataSize:u1 ClrInstanceID:u2"},
    {40, 0, "WorkerThreadCreate", "WorkerThreadCount:u4 RetiredWorkerThreads:u4"},
    {41, 0, "WorkerThreadTerminate", "WorkerThreadCount:u4 RetiredWorkerThreads:u4"},
    {42, 0, "WorkerThreadRetire", "WorkerThreadCount:u4 RetiredWorkerThreads:u4"},
    {43, 0, "WorkerThreadUnretire", "WorkerThreadCount:u4 RetiredWorkerThreads:u4"},
    {44, 0, "IOThreadCreate", "IOThreadCount:u4 RetiredIOThreads:u4"},
    {44, 1, "IOThreadCreate", "IOThreadCount:u4 RetiredIOThreads:u4 ClrInstanceID:u2"},
    {45, 0, "IOThreadTerminate", "IOThreadCount:u4 RetiredIOThreads:u4"},
    {45, 1, "IOThreadTerminate", "IOThreadCount:u4 RetiredIOThreads:u4 ClrInstanceID:u2"},
    {46, 0, "IOThreadRetire", "IOThreadCount:u4 RetiredIOThreads:u4"},
    {46, 1, "IOThreadRetire", "IOThreadCount:u4 RetiredIOThreads:u4 ClrInstanceID:u2"},
    {47, 0, "IOThreadUnretire", "IOThreadCount:u4 RetiredIOThreads:u4"},
    {47, 1, "IOThreadUnretire", "IOThreadCount:u4 RetiredIOThreads:u4 ClrInstanceID:u2"},
    {48, 0, "ThreadpoolSuspensionSuspendThread", "ClrThreadID:u4 CpuUtilization:u4"},
    {49, 0, "ThreadpoolSuspensionResumeThread", "ClrThreadID:u4 CpuUtilization:u4"},
    {50, 0, "ThreadPoolWorkerThreadStart",
     "ActiveWorkerThreadCount:u4 RetiredWorkerThreadCount:u4 ClrInstanceID:u2"},
    {51, 0, "ThreadPoolWorkerThreadStop",
     "ActiveWorkerThreadCount:u4 RetiredWorkerThreadCount:u4 ClrInstanceID:u2"},
    {52, 0, "ThreadPoolWorkerThreadRetirementStart",
     "ActiveWorkerThreadCount:u4 RetiredWorkerThreadCount:u4 ClrInstanceID:u2"},
    {53, 0, "ThreadPoolWorkerThreadRetirementStop",
     "ActiveWorkerThreadCount:u4 RetiredWorkerThreadCount:u4 ClrInstanceID:u2"},
    {54, 0, "ThreadPoolWorkerThreadAdjustmentSample", "Throughput:d ClrInstanceID:u2"},
    {55, 0, "ThreadPoolWorkerThreadAdjustmentAdjustment",
     "AverageThroughput:d NewWorkerThreadCount:u4 Reason:u4=ThreadAdjustmentReasonMap "
     "ClrInstanceID:u2"},
    {56, 0, "ThreadPoolWorkerThreadAdjustmentStats",
     "Duration:d Throughput:d ThreadWave:d ThroughputWave:d ThroughputErrorEstimate:d "
     "AverageThroughputErrorEstimate:d "
     "ThroughputRatio:d Confidence:d NewControlSetting:d NewThreadWaveMagnitude:u2 "
     "ClrInstanceID:u2"},
    {57, 0, "ThreadPoolWorkerThreadWait",
     "ActiveWorkerThreadCount:u4 RetiredWorkerThreadCount:u4 ClrInstanceID:u2"},
    {58, 0, "YieldProcessorMeasurement", "ClrInstanceID:u2 NsPerYield:d EstablishedNsPerYield:d"},
    {59, 0, "ThreadPoolMinMaxThreads",
     "MinWorkerThreads:u2 MaxWorkerThreads:u2 MinIOCompletionThreads:u2 MaxIOCompletionThreads:u2 "
     "ClrInstanceID:u2"},
    {60, 0, "ThreadPoolWorkingThreadCount", "Count:u4 ClrInstanceID:u2"},
    {61, 0, "ThreadPoolEnqueue", "WorkID:p ClrInstanceID:u2"},
    {62, 0, "ThreadPoolDequeue", "WorkID:p ClrInstanceID:u2"},
    {63, 0, "ThreadPoolIOEnqueue",
     "NativeOverlapped:p Overlapped:p MultiDequeues:b ClrInstanceID:u2"},
    {64, 0, "ThreadPoolIODequeue", "NativeOverlapped:p Overlapped:p ClrInstanceID:u2"},
    {65, 0, "ThreadPoolIOPack", "NativeOverlapped:p Overlapped:p ClrInstanceID:u2"},
    {70, 0, "ThreadCreating", "ID:p ClrInstanceID:u2"},
    {71, 0, "ThreadRunning", "ID:p ClrInstanceID:u2"},
    {72, 0, "MethodDetails",
     "MethodID:u8 TypeID:u8 MethodToken:u4 TypeParameterCount:u4 LoaderModuleID:u8 "
     "TypeParameters*TypeParameterCount:u8"},
    {73, 0, "TypeLoadStart", "TypeLoadStartID:u4 ClrInstanceID:u2"},
    {74, 0, "TypeLoadStop",
     "TypeLoadStartID:u4 ClrInstanceID:u2 LoadLevel:u2 TypeID:u8 TypeName:z"},
    {80, 0, "ExceptionThrown", ""},
    {80, 1, "ExceptionThrown",
     "ExceptionType:z ExceptionMessage:z ExceptionEIP:p ExceptionHRESULT:u4 "
     "ExceptionFlags:u2=ExceptionThrownFlagsMap "
     "ClrInstanceID:u2"},
    {81, 0, "Contention", ""},
    {81, 1, "ContentionStart", "ContentionFlags:u1=ContentionFlagsMap ClrInstanceID:u2"},
    {81, 2, "ContentionStart",
     "ContentionFlags:u1=ContentionFlagsMap ClrInstanceID:u2 LockID:p AssociatedObjectID:p "
     "LockOwnerThreadID:u8"},
    {82, 0, "CLRStackWalk",
     "ClrInstanceID:u2 Reserved1:u1 Reserved2:u1 FrameCount:u4 Stack*FrameCount:p"},
    {83, 0, "AppDomainMemAllocated", "AppDomainID:u8 Allocated:u8 ClrInstanceID:u2"},
    {84, 0, "AppDomainMemSurvived",
     "AppDomainID:u8 Survived:u8 ProcessSurvived:u8 ClrInstanceID:u2"},
    {85, 0, "ThreadCreated",
     "ManagedThreadID:u8 AppDomainID:u8 Flags:u4=ThreadFlagsMap ManagedThreadIndex:u4 "
     "OSThreadID:u4 ClrInstanceID:u2"},
    {86, 0, "ThreadTerminated", "ManagedThreadID:u8 AppDomainID:u8 ClrInstanceID:u2"},
    {87, 0, "ThreadDomainEnter", "ManagedThreadID:u8 AppDomainID:u8 ClrInstanceID:u2"},
    {88, 0, "ILStubGenerated",
     "ClrInstanceID:u2 ModuleID:u8 StubMethodID:u8 StubFlags:u4=ILStubGeneratedFlagsMap "
     "ManagedInteropMethodToken:u4 "
     "ManagedInteropMethodNamespace:z ManagedInteropMethodName:z ManagedInteropMethodSignature:z "
     "NativeMethodSignature:z "
     "StubMethodSignature:z StubMethodILCode:z"},
    {89, 0, "ILStubCacheHit",
     "ClrInstanceID:u2 ModuleID:u8 StubMethodID:u8 ManagedInteropMethodToken:u4 "
     "ManagedInteropMethodNamespace:z "
     "ManagedInteropMethodName:z ManagedInteropMethodSignature:z"},
    {90, 0, "ContentionLockCreated", "LockID:p AssociatedObjectID:p ClrInstanceID:u2"},
    {91, 0, "ContentionStop", "ContentionFlags:u1=ContentionFlagsMap ClrInstanceID:u2"},
    {91, 1, "ContentionStop",
     "ContentionFlags:u1=ContentionFlagsMap ClrInstanceID:u2 DurationNs:d"},
    {135, 0, "DCStartCompleteV2", ""},
    {136, 0, "DCEndCompleteV2", ""},
    {137, 0, "MethodDCStartV2",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap"},
    {138, 0, "MethodDCEndV2",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap"},
    {139, 0, "MethodDCStartVerboseV2",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z"},
    {140, 0, "MethodDCEndVerboseV2",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z"},
    {141, 0, "MethodLoad",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap"},
    {141, 1, "MethodLoad",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2"},
    {141, 2, "MethodLoad",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2 "
     "ReJITID:u8"},
    {142, 0, "MethodUnload",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap"},
    {142, 1, "MethodUnload",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2"},
    {142, 2, "MethodUnload",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2 "
     "ReJITID:u8"},
    {143, 0, "MethodLoadVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z"},
    {143, 1, "MethodLoadVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2"},
    {143, 2, "MethodLoadVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2 ReJITID:u8"},
    {144, 0, "MethodUnloadVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z"},
    {144, 1, "MethodUnloadVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2"},
    {144, 2, "MethodUnloadVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2 ReJITID:u8"},
    {145, 0, "MethodJittingStarted",
     "MethodID:u8 ModuleID:u8 MethodToken:u4 MethodILSize:u4 MethodNamespace:z MethodName:z "
     "MethodSignature:z"},
    {145, 1, "MethodJittingStarted",
     "MethodID:u8 ModuleID:u8 MethodToken:u4 MethodILSize:u4 MethodNamespace:z MethodName:z "
     "MethodSignature:z ClrInstanceID:u2"},
    {146, 0, "MethodJitMemoryAllocatedForCode",
     "MethodID:u8 ModuleID:u8 JitHotCodeRequestSize:u8 JitRODataRequestSize:u8 "
     "AllocatedSizeForJitCode:u8 JitAllocFlag:u4 "
     "ClrInstanceID:u2"},
    {149, 0, "ModuleDCStartV2",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z"},
    {150, 0, "ModuleDCEndV2",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z"},
    {151, 0, "DomainModuleLoad",
     "ModuleID:u8 AssemblyID:u8 AppDomainID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 "
     "ModuleILPath:z ModuleNativePath:z"},
    {151, 1, "DomainModuleLoad",
     "ModuleID:u8 AssemblyID:u8 AppDomainID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 "
     "ModuleILPath:z ModuleNativePath:z "
     "ClrInstanceID:u2"},
    {152, 0, "ModuleLoad",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z"},
    {152, 1, "ModuleLoad",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2"},
    {152, 2, "ModuleLoad",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z"},
    {152, 3, "ModuleLoad",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z "
     "NativeBuildID:z"},
    {153, 0, "ModuleUnload",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z"},
    {153, 1, "ModuleUnload",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2"},
    {153, 2, "ModuleUnload",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z"},
    {153, 3, "ModuleUnload",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z "
     "NativeBuildID:z"},
    {154, 0, "AssemblyLoad",
     "AssemblyID:u8 AppDomainID:u8 AssemblyFlags:u4=AssemblyFlagsMap FullyQualifiedAssemblyName:z"},
    {154, 1, "AssemblyLoad",
     "AssemblyID:u8 AppDomainID:u8 BindingID:u8 AssemblyFlags:u4=AssemblyFlagsMap "
     "FullyQualifiedAssemblyName:z ClrInstanceID:u2"},
    {155, 0, "AssemblyUnload",
     "AssemblyID:u8 AppDomainID:u8 AssemblyFlags:u4=AssemblyFlagsMap FullyQualifiedAssemblyName:z"},
    {155, 1, "AssemblyUnload",
     "AssemblyID:u8 AppDomainID:u8 BindingID:u8 AssemblyFlags:u4=AssemblyFlagsMap "
     "FullyQualifiedAssemblyName:z ClrInstanceID:u2"},
    {156, 0, "AppDomainLoad", "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z"},
    {156, 1, "AppDomainLoad",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z AppDomainIndex:u4 "
     "ClrInstanceID:u2"},
    {157, 0, "AppDomainUnload",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z"},
    {157, 1, "AppDomainUnload",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z AppDomainIndex:u4 "
     "ClrInstanceID:u2"},
    {158, 0, "ModuleRangeLoad",
     "ClrInstanceID:u2 ModuleID:u8 RangeBegin:u4 RangeSize:u4 RangeType:u1=ModuleRangeTypeMap"},
    {159, 0, "R2RGetEntryPoint",
     "MethodID:u8 MethodNamespace:z MethodName:z MethodSignature:z EntryPoint:u8 ClrInstanceID:u2"},
    {160, 0, "R2RGetEntryPointStart", "MethodID:u8 ClrInstanceID:u2"},
    {181, 0, "StrongNameVerificationStart",
     "VerificationFlags:u4 ErrorCode:u4 FullyQualifiedAssemblyName:z"},
    {181, 1, "StrongNameVerificationStart",
     "VerificationFlags:u4 ErrorCode:u4 FullyQualifiedAssemblyName:z ClrInstanceID:u2"},
    {182, 0, "StrongNameVerificationStop",
     "VerificationFlags:u4 ErrorCode:u4 FullyQualifiedAssemblyName:z"},
    {182, 1, "StrongNameVerificationStop",
     "VerificationFlags:u4 ErrorCode:u4 FullyQualifiedAssemblyName:z ClrInstanceID:u2"},
    {183, 0, "AuthenticodeVerificationStart", "VerificationFlags:u4 ErrorCode:u4 ModulePath:z"},
    {183, 1, "AuthenticodeVerificationStart",
     "VerificationFlags:u4 ErrorCode:u4 ModulePath:z ClrInstanceID:u2"},
    {184, 0, "AuthenticodeVerificationStop", "VerificationFlags:u4 ErrorCode:u4 ModulePath:z"},
    {184, 1, "AuthenticodeVerificationStop",
     "VerificationFlags:u4 ErrorCode:u4 ModulePath:z ClrInstanceID:u2"},
    {185, 0, "MethodJitInliningSucceeded",
     "MethodBeingCompiledNamespace:z MethodBeingCompiledName:z MethodBeingCompiledNameSignature:z "
     "InlinerNamespace:z InlinerName:z "
     "InlinerNameSignature:z InlineeNamespace:z InlineeName:z InlineeNameSignature:z "
     "ClrInstanceID:u2"},
    {186, 0, "MethodJitInliningFailedAnsi",
     "MethodBeingCompiledNamespace:z MethodBeingCompiledName:z MethodBeingCompiledNameSignature:z "
     "InlinerNamespace:z InlinerName:z "
     "InlinerNameSignature:z InlineeNamespace:z InlineeName:z InlineeNameSignature:z FailAlways:b "
     "FailReason:a ClrInstanceID:u2"},
    {187, 0, "RuntimeInformationStart",
     "ClrInstanceID:u2 Sku:u2=RuntimeSkuMap BclMajorVersion:u2 BclMinorVersion:u2 "
     "BclBuildNumber:u2 BclQfeNumber:u2 "
     "VMMajorVersion:u2 VMMinorVersion:u2 VMBuildNumber:u2 VMQfeNumber:u2 "
     "StartupFlags:u4=StartupFlagsMap "
     "StartupMode:u1=StartupModeMap CommandLine:z ComObjectGuid:g RuntimeDllPath:z"},
    {188, 0, "MethodJitTailCallSucceeded",
     "MethodBeingCompiledNamespace:z MethodBeingCompiledName:z MethodBeingCompiledNameSignature:z "
     "CallerNamespace:z CallerName:z "
     "CallerNameSignature:z CalleeNamespace:z CalleeName:z CalleeNameSignature:z TailPrefix:b "
     "TailCallType:u4=TailCallTypeMap "
     "ClrInstanceID:u2"},
    {189, 0, "MethodJitTailCallFailedAnsi",
     "MethodBeingCompiledNamespace:z MethodBeingCompiledName:z MethodBeingCompiledNameSignature:z "
     "CallerNamespace:z CallerName:z "
     "CallerNameSignature:z CalleeNamespace:z CalleeName:z CalleeNameSignature:z TailPrefix:b "
     "FailReason:a ClrInstanceID:u2"},
    {190, 0, "MethodILToNativeMap",
     "MethodID:u8 ReJITID:u8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets*CountOfMapEntries:u4 "
     "NativeOffsets*CountOfMapEntries:u4 "
     "ClrInstanceID:u2"},
    {190, 1, "MethodILToNativeMap",
     "MethodID:u8 ReJITID:u8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets*CountOfMapEntries:u4 "
     "NativeOffsets*CountOfMapEntries:u4 "
     "ClrInstanceID:u2 ILVersionID:u8"},
    {191, 0, "MethodJitTailCallFailed",
     "MethodBeingCompiledNamespace:z MethodBeingCompiledName:z MethodBeingCompiledNameSignature:z "
     "CallerNamespace:z CallerName:z "
     "CallerNameSignature:z CalleeNamespace:z CalleeName:z CalleeNameSignature:z TailPrefix:b "
     "FailReason:z ClrInstanceID:u2"},
    {192, 0, "MethodJitInliningFailed",
     "MethodBeingCompiledNamespace:z MethodBeingCompiledName:z MethodBeingCompiledNameSignature:z "
     "InlinerNamespace:z InlinerName:z "
     "InlinerNameSignature:z InlineeNamespace:z InlineeName:z InlineeNameSignature:z FailAlways:b "
     "FailReason:z ClrInstanceID:u2"},
    {200, 0, "IncreaseMemoryPressure", "BytesAllocated:u8 ClrInstanceID:u2"},
    {201, 0, "DecreaseMemoryPressure", "BytesFreed:u8 ClrInstanceID:u2"},
    {202, 0, "GCMarkWithType", "HeapNum:u4 ClrInstanceID:u2 Type:u4=GCRootKindMap Bytes:u8"},
    {203, 2, "GCJoin",
     "Heap:u4 JoinTime:u4=GCJoinTimeMap JoinType:u4=GCJoinTypeMap ClrInstanceID:u2 JoinID:u4"},
    {204, 3, "GCPerHeapHistory",
     "ClrInstanceID:u2 FreeListAllocated:p FreeListRejected:p EndOfSegAllocated:p "
     "CondemnedAllocated:p PinnedAllocated:p "
     "PinnedAllocatedAdvance:p RunningFreeListEfficiency:u4 CondemnReasons0:u4 CondemnReasons1:u4 "
     "CompactMechanisms:u4 "
     "ExpandMechanisms:u4 HeapIndex:u4 ExtraGen0Commit:p Count:u4 Values*Count{SizeBefore:p "
     "FreeListBefore:p FreeObjBefore:p "
     "SizeAfter:p FreeListAfter:p FreeObjAfter:p In:p PinnedSurv:p NonePinnedSurv:p "
     "NewAllocation:p}"},
    {205, 2, "GCGlobalHeapHistory",
     "FinalYoungestDesired:u8 NumHeaps:i4 CondemnedGeneration:u4 Gen0ReductionCount:u4 "
     "Reason:u4=GCReasonMap "
     "GlobalMechanisms:u4=GCGlobalMechanismsMap ClrInstanceID:u2 PauseMode:u4=GCPauseModeMap "
     "MemoryPressure:u4"},
    {205, 3, "GCGlobalHeapHistory",
     "FinalYoungestDesired:u8 NumHeaps:i4 CondemnedGeneration:u4 Gen0ReductionCount:u4 "
     "Reason:u4=GCReasonMap "
     "GlobalMechanisms:u4=GCGlobalMechanismsMap ClrInstanceID:u2 PauseMode:u4=GCPauseModeMap "
     "MemoryPressure:u4 CondemnReasons0:u4 "
     "CondemnReasons1:u4"},
    {205, 4, "GCGlobalHeapHistory",
     "FinalYoungestDesired:u8 NumHeaps:i4 CondemnedGeneration:u4 Gen0ReductionCount:u4 "
     "Reason:u4=GCReasonMap "
     "GlobalMechanisms:u4=GCGlobalMechanismsMap ClrInstanceID:u2 PauseMode:u4=GCPauseModeMap "
     "MemoryPressure:u4 CondemnReasons0:u4 "
     "CondemnReasons1:u4 Count:u4 Times*Count:u4"},
    {206, 0, "GenAwareBegin", "Count:u4 ClrInstanceID:u2"},
    {207, 0, "GenAwareEnd", "Count:u4 ClrInstanceID:u2"},
    {208, 0, "GCLOHCompact",
     "ClrInstanceID:u2 Count:u2 Values*Count{TimePlan:u4 TimeCompact:u4 TimeRelocate:u4 Padding:x "
     "TotalRefs:p ZeroRefs:p}"},
    {209, 0, "GCFitBucketInfo",
     "ClrInstanceID:u2 BucketKind:u2=GCBucketKindMap TotalSize:u8 Count:u2 Values*Count{Index:u4 "
     "Count:u4 Size:p}"},
    {240, 0, "DebugIPCEventStart", ""},
    {241, 0, "DebugIPCEventEnd", ""},
    {242, 0, "DebugExceptionProcessingStart", ""},
    {243, 0, "DebugExceptionProcessingEnd", ""},
    {250, 0, "ExceptionCatchStart", "EntryEIP:u8 MethodID:u8 MethodName:z ClrInstanceID:u2"},
    {251, 0, "ExceptionCatchStop", ""},
    {252, 0, "ExceptionFinallyStart", "EntryEIP:u8 MethodID:u8 MethodName:z ClrInstanceID:u2"},
    {253, 0, "ExceptionFinallyStop", ""},
    {254, 0, "ExceptionFilterStart", "EntryEIP:u8 MethodID:u8 MethodName:z ClrInstanceID:u2"},
    {255, 0, "ExceptionFilterStop", ""},
    {256, 0, "ExceptionThrownStop", ""},
    {260, 0, "CodeSymbols",
     "ModuleId:u8 TotalChunks:u2 ChunkNumber:u2 ChunkLength:u4 Chunk*ChunkLength:u1 "
     "ClrInstanceID:u2"},
    {270, 0, "EventSource", "EventID:i4 EventName:z EventSourceName:z Payload:z"},
    {280, 0, "TieredCompilationSettings",
     "ClrInstanceID:u2 Flags:u4=TieredCompilationSettingsFlagsMap"},
    {281, 0, "TieredCompilationPause", "ClrInstanceID:u2"},
    {282, 0, "TieredCompilationResume", "ClrInstanceID:u2 NewMethodCount:u4"},
    {283, 0, "TieredCompilationBackgroundJitStart", "ClrInstanceID:u2 PendingMethodCount:u4"},
    {284, 0, "TieredCompilationBackgroundJitStop",
     "ClrInstanceID:u2 PendingMethodCount:u4 JittedMethodCount:u4"},
    {290, 0, "AssemblyLoadStart",
     "ClrInstanceID:u2 AssemblyName:z AssemblyPath:z RequestingAssembly:z AssemblyLoadContext:z "
     "RequestingAssemblyLoadContext:z"},
    {291, 0, "AssemblyLoadStop",
     "ClrInstanceID:u2 AssemblyName:z AssemblyPath:z RequestingAssembly:z AssemblyLoadContext:z "
     "RequestingAssemblyLoadContext:z "
     "Success:b ResultAssemblyName:z ResultAssemblyPath:z Cached:b"},
    {292, 0, "ResolutionAttempted",
     "ClrInstanceID:u2 AssemblyName:z Stage:u2=ResolutionAttemptedStageMap AssemblyLoadContext:z "
     "Result:u2=ResolutionAttemptedResultMap ResultAssemblyName:z ResultAssemblyPath:z "
     "ErrorMessage:z"},
    {293, 0, "AssemblyLoadContextResolvingHandlerInvoked",
     "ClrInstanceID:u2 AssemblyName:z HandlerName:z AssemblyLoadContext:z ResultAssemblyName:z "
     "ResultAssemblyPath:z"},
    {294, 0, "AppDomainAssemblyResolveHandlerInvoked",
     "ClrInstanceID:u2 AssemblyName:z HandlerName:z ResultAssemblyName:z ResultAssemblyPath:z"},
    {295, 0, "AssemblyLoadFromResolveHandlerInvoked",
     "ClrInstanceID:u2 AssemblyName:z IsTrackedLoad:b RequestingAssemblyPath:z "
     "ComputedRequestedAssemblyPath:z"},
    {296, 0, "KnownPathProbed",
     "ClrInstanceID:u2 FilePath:z Source:u2=KnownPathSourceMap Result:i4"},
    {297, 0, "JitInstrumentationData",
     "ClrInstanceID:u2 MethodFlags:u4=MethodFlagsMap DataSize:u4 MethodID:u8 Data*DataSize:u1"},
    {298, 0, "JitInstrumentationDataVerbose",
     "ClrInstanceID:u2 MethodFlags:u4=MethodFlagsMap DataSize:u4 MethodID:u8 ModuleID:u8 "
     "MethodToken:u4 MethodNamespace:z "
     "MethodName:z MethodSignature:z Data*DataSize:u1"},
    {299, 0, "ProfilerMessage", "ClrInstanceID:u2 Message:z"},
    {300, 0, "ExecutionCheckpoint", "ClrInstanceID:u2 Name:z Timestamp:i8"},
    {301, 0, "WaitHandleWaitStart",
     "WaitSource:u1=WaitHandleWaitSourceMap AssociatedObjectID:p ClrInstanceID:u2"},
    {302, 0, "WaitHandleWaitStop", "ClrInstanceID:u2"},
    {303, 0, "AllocationSampled",
     "AllocationKind:u4=GCAllocationKindMap ClrInstanceID:u2 TypeID:p TypeName:z Address:p "
     "ObjectSize:u8 SampledByteOffset:u8"},
    {0, 0, NULL, NULL},
};
