/* Providers whose events are known, and names of values.  Made by tools/make-clr-events; how fields
 * are spelled stands in clr_events.h. */
#include "encodings/dotnet/clr_events.h"

const struct clr_map clr_maps[] = {
    {"AppDomainFlagsMap", true, "Default Executable Shared"},
    {"AssemblyFlagsMap", true, "DomainNeutral Dynamic Native Collectible ReadyToRun"},
    {"ExceptionThrownFlagsMap", true,
     "HasInnerException Nested ReThrown CorruptedState CLSCompliant"},
    {"GCGlobalMechanismsMap", true, "Concurrent Compaction Promotion Demotion CardBundles"},
    {"GCRootCCWFlagsMap", true, "Strong Pegged"},
    {"GCRootFlagsMap", true, "Pinning WeakRef Interior RefCounted"},
    {"GCRootRCWFlagsMap", true, "Duplicate XAMLObject ExtendsComObject"},
    {"GCRootStaticVarFlagsMap", true, "ThreadLocal"},
    {"GCSettingsFlagsMap", true,
     "GCSettingsConcurrent GCSettingsLargePages GCSettingsFrozenSegs GCSettingsHardLimitConfig "
     "GCSettingsNoAffinitize"},
    {"IBCTypeMap", true, "IBCUnprofiledSection IBCProfiledSection"},
    {"ILStubGeneratedFlagsMap", true,
     "ReverseInterop ComInterop NGenedStub Delegate VarArg UnmanagedCallee StructStub"},
    {"MethodFlagsMap", true,
     "Dynamic Generic HasSharedGenericCode Jitted JitHelper ProfilerRejectedPrecompiledCode "
     "ReadyToRunRejectedPrecompiledCode"},
    {"ModuleFlagsMap", true,
     "DomainNeutral Native Dynamic Manifest IbcOptimized ReadyToRunModule PartialReadyToRunModule"},
    {"ModuleRangeTypeMap", true, "HotRange WarmRange ColdRange HotColdSortedRange"},
    {"RuntimeSkuMap", true, "DesktopClr CoreClr Mono"},
    {"StartupFlagsMap", true,
     "CONCURRENT_GC LOADER_OPTIMIZATION_SINGLE_DOMAIN LOADER_OPTIMIZATION_MULTI_DOMAIN - "
     "LOADER_SAFEMODE - - - LOADER_SETPREFERENCE "
     "- - - SERVER_GC HOARD_GC_VM SINGLE_VERSION_HOSTING_INTERFACE - LEGACY_IMPERSONATION "
     "DISABLE_COMMITTHREADSTACK "
     "ALWAYSFLOW_IMPERSONATION TRIM_GC_COMMIT ETW SERVER_BUILD ARM"},
    {"StartupModeMap", true, "ManagedExe HostedClr IjwDll ComActivated Other"},
    {"ThreadFlagsMap", true, "GCSpecial Finalizer ThreadPoolWorker"},
    {"TieredCompilationSettingsFlagsMap", true, "QuickJit QuickJitForLoops TieredPGO ReadyToRun"},
    {"TypeFlagsMap", true,
     "Delegate Finalizable ExternallyImplementedCOMObject Array ModuleBaseAddress - - - "
     "ArrayRankBit0 ArrayRankBit1 ArrayRankBit2 "
     "ArrayRankBit3 ArrayRankBit4 ArrayRankBit5"},
    {"AsyncCausalityStatusMap", false, "Started Completed Canceled Error"},
    {"BufferAllocatedReasonMap", false, "Pooled OverMaximumSize PoolExhausted"},
    {"BufferDroppedReasonMap", false, "Full OverMaximumSize"},
    {"CausalityRelationMap", false, "AssignDelegate Join Choice Cancel Error"},
    {"CausalitySynchronousWorkMap", false, "CompletionNotification ProgressNotification Execution"},
    {"ContentionFlagsMap", false, "Managed Native"},
    {"ForkJoinOperationTypeMap", false, "- ParallelInvoke ParallelFor ParallelForEach"},
    {"GCAllocationKindMap", false, "Small Large Pinned"},
    {"GCBucketKindMap", false, "LargestFreeListItems PlugsInCondemned"},
    {"GCHandleKindMap", false,
     "WeakShort WeakLong Strong Pinned Variable RefCounted Dependent AsyncPinned SizedRef"},
    {"GCJoinTimeMap", false, "Start End"},
    {"GCJoinTypeMap", false, "LastJoin Join Restart FirstJoin"},
    {"GCPauseModeMap", false, "Batch Interactive LowLatency SustainedLowLatency NoGC"},
    {"GCReasonMap", false,
     "AllocSmall Induced LowMemory Empty AllocLarge OutOfSpaceSOH OutOfSpaceLOH InducedNotForced "
     "Internal InducedLowMemory "
     "InducedCompacting LowMemoryHost PMFullGC LowMemoryHostBlocking"},
    {"GCRootKindMap", false,
     "Stack Finalizer Handle Older SizedRef Overflow DependentHandle NewFQ Steal BGC"},
    {"GCSegmentTypeMap", false, "SmallObjectHeap LargeObjectHeap ReadOnlyHeap PinnedObjectHeap"},
    {"GCSuspendEEReasonMap", false,
     "SuspendOther SuspendForGC SuspendForAppDomainShutdown SuspendForCodePitching "
     "SuspendForShutdown SuspendForDebugger "
     "SuspendForGCPrep SuspendForDebuggerSweep"},
    {"GCTypeMap", false, "NonConcurrentGC BackgroundGC ForegroundGC"},
    {"HttpVersionPolicyMap", false,
     "RequestVersionOrLower RequestVersionOrHigher RequestVersionExact"},
    {"KnownPathSourceMap", false,
     "ApplicationAssemblies AppNativeImagePaths AppPaths PlatformResourceRoots "
     "SatelliteSubdirectory"},
    {"MemoryPressureMap", false, "Low Medium High"},
    {"MemoryStreamBufferTypeMap", false, "Small Large"},
    {"MemoryStreamDiscardReasonMap", false, "TooLarge EnoughFree"},
    {"MonoClauseTypeMap", false, "None Filter Finally Fault"},
    {"MonoCodeBufferTypeMap", false,
     "Method MethodTrampoline UnboxTrampoline IMTTrampoline GenericsTrampoline SpecificTrampoline "
     "Helper"},
    {"MonoGCEventTypeMap", false,
     "Start - - - - End PreStopWorld PostStopWorld PreStartWorld PostStartWorld PreStopWorldLocked "
     "PostStartWorldUnlocked"},
    {"MonoGCHandleTypeMap", false, "Weak WeakTrackResurrection Normal Pinned"},
    {"MonoGCRootTypeMap", false,
     "External Stack FinalizerQueue Static ThreadStatic ContextStatic GCHandle Jit Threading "
     "Domain Reflection Marshal ThreadPool "
     "Debugger Handle Ephemeron ToggleRef"},
    {"NGenBindMap", false,
     "START_BIND NO_INDEX SYSTEM_ASSEMBLY_NOT_AVAILABLE NO_NATIVE_IMAGE REJECT_CONFIG_MASK FAIL "
     "INDEX_CORRUPTION REJECT_TIMESTAMP "
     "REJECT_NATIVEIMAGE_NOT_FOUND REJECT_IL_SIG REJECT_LOADER_EVAL_FAIL MISSING_FOUND "
     "REJECT_HOSTASM REJECT_IL_NOT_FOUND "
     "REJECT_APPBASE_NOT_FILE BIND_DEPEND_REJECT_REF_DEF_MISMATCH BIND_DEPEND_REJECT_NGEN_SIG "
     "APPLY_EXTERNAL_RELOCS_FAILED "
     "SYSTEM_ASSEMBLY_NATIVEIMAGE_NOT_AVAILABLE ASSEMBLY_HAS_DIFFERENT_GRANT "
     "ASSEMBLY_NOT_DOMAIN_NEUTRAL "
     "NATIVEIMAGE_VERSION_MISMATCH LOADFROM_NOT_ALLOWED DEPENDENCY_HAS_DIFFERENT_IDENTITY"},
    {"ResolutionAttemptedResultMap", false,
     "Success AssemblyNotFound MismatchedAssemblyName IncompatibleVersion Failure Exception"},
    {"ResolutionAttemptedStageMap", false,
     "FindInLoadContext AssemblyLoadContextLoad ApplicationAssemblies "
     "DefaultAssemblyLoadContextFallback ResolveSatelliteAssembly "
     "AssemblyLoadContextResolvingEvent AppDomainAssemblyResolveEvent"},
    {"SampleMap", false, "Error External Managed"},
    {"SectionTypeMap", false,
     "- ModuleSection EETableSection WriteDataSection WriteableDataSection DataSection "
     "RVAStaticsSection EEDataSection "
     "DelayLoadInfoTableEagerSection DelayLoadInfoTableSection EEReadonlyData ReadonlyData "
     "ClassSection CrossDomainInfoSection "
     "MethodDescSection MethodDescWriteableSection ExceptionSection InstrumentSection "
     "VirtualImportThunkSection "
     "ExternalMethodThunkSection HelperTableSection MethodPrecodeWriteableSection "
     "MethodPrecodeWriteSection MethodPrecodeSection "
     "Win32ResourcesSection HeaderSection MetadataSection DelayLoadInfoSection ImportTableSection "
     "CodeSection CodeHeaderSection "
     "CodeManagerSection UnwindDataSection RuntimeFunctionSection StubsSection "
     "StubDispatchDataSection ExternalMethodDataSection "
     "DelayLoadInfoDelayListSection ReadonlySharedSection ReadonlySection ILSection GCInfoSection "
     "ILMetadataSection "
     "ResourcesSection CompressedMapsSection DebugSection BaseRelocsSection"},
    {"TailCallTypeMap", false, "OptimizedTailCall RecursiveLoop HelperAssistedTailCall"},
    {"TaskWaitBehaviorMap", false, "- Synchronous Asynchronous"},
    {"ThreadAdjustmentReasonMap", false,
     "Warmup Initializing RandomMove ClimbingMove ChangePoint Stabilizing Starvation "
     "ThreadTimedOut CooperativeBlocking"},
    {"ThreadTransferKindMap", false, "Unknown ManagedTimers ManagedAsync WinRT"},
    {"WaitHandleWaitSourceMap", false, "Unknown MonitorWait"},
};
const size_t clr_maps_n = sizeof clr_maps / sizeof *clr_maps;

static const struct clr_event events_0[] = {
    {2, 0, "Event", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {4, 0, "Activity1Start", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {5, 0, "Activity1Stop", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {6, 0, "Activity2Start", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {7, 0, "Activity2Stop", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {8, 0, "RecursiveActivity1Start", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {9, 0, "RecursiveActivity1Stop", "SourceName:z EventName:z Arguments*+{Key:z Value:z}"},
    {11, 0, "ActivityStart", "SourceName:z ActivityName:z Arguments*+{Key:z Value:z}"},
    {12, 0, "ActivityStop", "SourceName:z ActivityName:z Arguments*+{Key:z Value:z}"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_1[] = {
    {1, 1, "ProcessInfo", "CommandLine:z OSInformation:z ArchInformation:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_2[] = {
    {0, 0, "ThreadSample", "Type:u4=SampleMap"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_4[] = {
    {156, 0, "ServiceProviderBuilt",
     "serviceProviderHashCode:i4 singletonServices:i4 scopedServices:i4 transientServices:i4 "
     "closedGenericsServices:i4 "
     "openGenericsServices:i4"},
    {157, 0, "ServiceProviderDescriptors",
     "serviceProviderHashCode:i4 descriptors:z chunkIndex:i4 chunkCount:i4"},
    {158, 0, "ServiceResolved", "serviceType:z serviceProviderHashCode:i4"},
    {159, 0, "ScopeDisposed",
     "serviceProviderHashCode:i4 scopedServicesResolved:i4 disposableServices:i4"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_5[] = {
    {1, 2, "MemoryStreamCreated", "guid:g tag:z requestedSize:i8 actualSize:i8"},
    {2, 3, "MemoryStreamDisposed", "guid:g tag:z lifetimeMs:i8 allocationStack:z disposeStack:z"},
    {3, 0, "MemoryStreamDoubleDispose",
     "guid:g tag:z allocationStack:z disposeStack1:z disposeStack2:z"},
    {4, 0, "MemoryStreamFinalized", "guid:g tag:z allocationStack:z"},
    {5, 0, "MemoryStreamToArray", "guid:g tag:z stack:z size:i8"},
    {5, 2, "MemoryStreamToArray", "guid:g tag:z stack:z size:i8"},
    {6, 0, "MemoryStreamManagerInitialized",
     "blockSize:i4 largeBufferMultiple:i4 maximumBufferSize:i4"},
    {7, 2, "MemoryStreamNewBlockCreated", "smallPoolInUseBytes:i8"},
    {8, 3, "MemoryStreamNewLargeBufferCreated", "requiredSize:i8 largePoolInUseBytes:i8"},
    {9, 3, "MemoryStreamNonPooledLargeBufferCreated",
     "guid:g tag:z requiredSize:i8 allocationStack:z"},
    {10, 2, "MemoryStreamDiscardBuffer",
     "guid:g tag:z bufferType:i4=MemoryStreamBufferTypeMap reason:i4=MemoryStreamDiscardReasonMap "
     "smallBlocksFree:i8 "
     "smallPoolBytesFree:i8 smallPoolBytesInUse:i8 largeBlocksFree:i8 largePoolBytesFree:i8 "
     "largePoolBytesInUse:i8"},
    {11, 3, "MemoryStreamOverCapacity",
     "guid:g tag:z requestedCapacity:i8 maxCapacity:i8 allocationStack:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_8[] = {
    {0, 0, "CLRStackWalkDCStart",
     "ClrInstanceID:u2 Reserved1:u1 Reserved2:u1 FrameCount:u4 Stack*FrameCount:p"},
    {10, 0, "GCSettingsRundown",
     "HardLimit:u8 LOHThreshold:u8 PhysicalMemoryConfig:u8 Gen0MinBudgetConfig:u8 "
     "Gen0MaxBudgetConfig:u8 HighMemPercentConfig:u4 "
     "BitSettings:u4=GCSettingsFlagsMap ClrInstanceID:u2"},
    {141, 0, "MethodDCStart",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap"},
    {141, 1, "MethodDCStart",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2"},
    {141, 2, "MethodDCStart",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2 "
     "ReJITID:u8"},
    {142, 0, "MethodDCEnd",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap"},
    {142, 1, "MethodDCEnd",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2"},
    {142, 2, "MethodDCEnd",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap ClrInstanceID:u2 "
     "ReJITID:u8"},
    {143, 0, "MethodDCStartVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z"},
    {143, 1, "MethodDCStartVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2"},
    {143, 2, "MethodDCStartVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2 ReJITID:u8"},
    {144, 0, "MethodDCEndVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z"},
    {144, 1, "MethodDCEndVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2"},
    {144, 2, "MethodDCEndVerbose",
     "MethodID:u8 ModuleID:u8 MethodStartAddress:u8 MethodSize:u4 MethodToken:u4 "
     "MethodFlags:u4=MethodFlagsMap MethodNamespace:z "
     "MethodName:z MethodSignature:z ClrInstanceID:u2 ReJITID:u8"},
    {145, 0, "DCStartComplete", ""},
    {145, 1, "DCStartComplete", "ClrInstanceID:u2"},
    {146, 0, "DCEndComplete", ""},
    {146, 1, "DCEndComplete", "ClrInstanceID:u2"},
    {147, 0, "DCStartInit", ""},
    {147, 1, "DCStartInit", "ClrInstanceID:u2"},
    {148, 0, "DCEndInit", ""},
    {148, 1, "DCEndInit", "ClrInstanceID:u2"},
    {149, 0, "MethodDCStartILToNativeMap",
     "MethodID:u8 ReJITID:u8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets*CountOfMapEntries:u4 "
     "NativeOffsets*CountOfMapEntries:u4 "
     "ClrInstanceID:u2"},
    {149, 1, "MethodDCStartILToNativeMap",
     "MethodID:u8 ReJITID:u8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets*CountOfMapEntries:u4 "
     "NativeOffsets*CountOfMapEntries:u4 "
     "ClrInstanceID:u2 ILVersionID:u8"},
    {150, 0, "MethodDCEndILToNativeMap",
     "MethodID:u8 ReJITID:u8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets*CountOfMapEntries:u4 "
     "NativeOffsets*CountOfMapEntries:u4 "
     "ClrInstanceID:u2"},
    {150, 1, "MethodDCEndILToNativeMap",
     "MethodID:u8 ReJITID:u8 MethodExtent:u1 CountOfMapEntries:u2 ILOffsets*CountOfMapEntries:u4 "
     "NativeOffsets*CountOfMapEntries:u4 "
     "ClrInstanceID:u2 ILVersionID:u8"},
    {151, 0, "DomainModuleDCStart",
     "ModuleID:u8 AssemblyID:u8 AppDomainID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 "
     "ModuleILPath:z ModuleNativePath:z"},
    {151, 1, "DomainModuleDCStart",
     "ModuleID:u8 AssemblyID:u8 AppDomainID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 "
     "ModuleILPath:z ModuleNativePath:z "
     "ClrInstanceID:u2"},
    {152, 0, "DomainModuleDCEnd",
     "ModuleID:u8 AssemblyID:u8 AppDomainID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 "
     "ModuleILPath:z ModuleNativePath:z"},
    {152, 1, "DomainModuleDCEnd",
     "ModuleID:u8 AssemblyID:u8 AppDomainID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 "
     "ModuleILPath:z ModuleNativePath:z "
     "ClrInstanceID:u2"},
    {153, 0, "ModuleDCStart",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z"},
    {153, 1, "ModuleDCStart",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2"},
    {153, 2, "ModuleDCStart",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z"},
    {153, 3, "ModuleDCStart",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z "
     "NativeBuildID:z"},
    {154, 0, "ModuleDCEnd",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z"},
    {154, 1, "ModuleDCEnd",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2"},
    {154, 2, "ModuleDCEnd",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z"},
    {154, 3, "ModuleDCEnd",
     "ModuleID:u8 AssemblyID:u8 ModuleFlags:u4=ModuleFlagsMap Reserved1:u4 ModuleILPath:z "
     "ModuleNativePath:z ClrInstanceID:u2 "
     "ManagedPdbSignature:g ManagedPdbAge:u4 ManagedPdbBuildPath:z NativePdbSignature:g "
     "NativePdbAge:u4 NativePdbBuildPath:z "
     "NativeBuildID:z"},
    {155, 0, "AssemblyDCStart",
     "AssemblyID:u8 AppDomainID:u8 AssemblyFlags:u4=AssemblyFlagsMap FullyQualifiedAssemblyName:z"},
    {155, 1, "AssemblyDCStart",
     "AssemblyID:u8 AppDomainID:u8 BindingID:u8 AssemblyFlags:u4=AssemblyFlagsMap "
     "FullyQualifiedAssemblyName:z ClrInstanceID:u2"},
    {156, 0, "AssemblyDCEnd",
     "AssemblyID:u8 AppDomainID:u8 AssemblyFlags:u4=AssemblyFlagsMap FullyQualifiedAssemblyName:z"},
    {156, 1, "AssemblyDCEnd",
     "AssemblyID:u8 AppDomainID:u8 BindingID:u8 AssemblyFlags:u4=AssemblyFlagsMap "
     "FullyQualifiedAssemblyName:z ClrInstanceID:u2"},
    {157, 0, "AppDomainDCStart",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z"},
    {157, 1, "AppDomainDCStart",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z AppDomainIndex:u4 "
     "ClrInstanceID:u2"},
    {158, 0, "AppDomainDCEnd",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z"},
    {158, 1, "AppDomainDCEnd",
     "AppDomainID:u8 AppDomainFlags:u4=AppDomainFlagsMap AppDomainName:z AppDomainIndex:u4 "
     "ClrInstanceID:u2"},
    {159, 0, "ThreadDC",
     "ManagedThreadID:u8 AppDomainID:u8 Flags:u4=ThreadFlagsMap ManagedThreadIndex:u4 "
     "OSThreadID:u4 ClrInstanceID:u2"},
    {160, 0, "ModuleRangeDCStart",
     "ClrInstanceID:u2 ModuleID:u8 RangeBegin:u4 RangeSize:u4 RangeType:u1=ModuleRangeTypeMap"},
    {161, 0, "ModuleRangeDCEnd",
     "ClrInstanceID:u2 ModuleID:u8 RangeBegin:u4 RangeSize:u4 RangeType:u1=ModuleRangeTypeMap"},
    {187, 0, "RuntimeInformationDCStart",
     "ClrInstanceID:u2 Sku:u2=RuntimeSkuMap BclMajorVersion:u2 BclMinorVersion:u2 "
     "BclBuildNumber:u2 BclQfeNumber:u2 "
     "VMMajorVersion:u2 VMMinorVersion:u2 VMBuildNumber:u2 VMQfeNumber:u2 "
     "StartupFlags:u4=StartupFlagsMap "
     "StartupMode:u1=StartupModeMap CommandLine:z ComObjectGuid:g RuntimeDllPath:z"},
    {188, 0, "CodeSymbolsRundown",
     "ModuleId:u8 TotalChunks:u2 ChunkNumber:u2 ChunkLength:u4 Chunk*ChunkLength:u1 "
     "ClrInstanceID:u2"},
    {280, 0, "TieredCompilationSettingsDCStart",
     "ClrInstanceID:u2 Flags:u4=TieredCompilationSettingsFlagsMap"},
    {300, 0, "ExecutionCheckpointDCEnd", "ClrInstanceID:u2 Name:z Timestamp:i8"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_9[] = {
    {0, 0, "StressLogEvent", "Facility:u4 LogLevel:u1 Message:a"},
    {0, 1, "StressLogEvent", "Facility:u4 LogLevel:u1 Message:a ClrInstanceID:u2"},
    {1, 0, "CLRStackWalkStress",
     "ClrInstanceID:u2 Reserved1:u1 Reserved2:u1 FrameCount:u4 Stack*FrameCount:p"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_10[] = {
    {1, 0, "BufferRented", "bufferId:i4 bufferSize:i4 poolId:i4 bucketId:i4"},
    {2, 0, "BufferAllocated",
     "bufferId:i4 bufferSize:i4 poolId:i4 bucketId:i4 reason:i4=BufferAllocatedReasonMap"},
    {3, 0, "BufferReturned", "bufferId:i4 bufferSize:i4 poolId:i4"},
    {4, 0, "BufferTrimmed", "bufferId:i4 bufferSize:i4 poolId:i4"},
    {5, 0, "BufferTrimPoll", "milliseconds:i4 pressure:i4=MemoryPressureMap"},
    {6, 0, "BufferDropped",
     "bufferId:i4 bufferSize:i4 poolId:i4 bucketId:i4 reason:i4=BufferDroppedReasonMap"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_11[] = {
    {150, 0, "ThreadTransferSend",
     "id:i8 kind:i4=ThreadTransferKindMap info:z multiDequeues:b intInfo1:i4 intInfo2:i4"},
    {151, 0, "ThreadTransferReceive", "id:i8 kind:i4=ThreadTransferKindMap info:z"},
    {152, 0, "ThreadTransferReceiveHandled", "id:i8 kind:i4=ThreadTransferKindMap info:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_12[] = {
    {1, 0, "RequestStart",
     "scheme:z host:z port:i4 pathAndQuery:z versionMajor:u1 versionMinor:u1 "
     "versionPolicy:i4=HttpVersionPolicyMap"},
    {2, 1, "RequestStop", "statusCode:i4"},
    {3, 1, "RequestFailed", "exceptionMessage:z"},
    {4, 0, "ConnectionEstablished", "versionMajor:u1 versionMinor:u1"},
    {5, 0, "ConnectionClosed", "versionMajor:u1 versionMinor:u1"},
    {6, 0, "RequestLeftQueue", "timeOnQueueMilliseconds:d versionMajor:u1 versionMinor:u1"},
    {7, 1, "RequestHeaderStart", "connectionId:i8"},
    {10, 0, "RequestContentStop", "contentLength:i8"},
    {12, 1, "ResponseHeadersStop", "statusCode:i4"},
    {15, 0, "RequestFailedDetailed", "exception:z"},
    {16, 0, "Redirect", "redirectUri:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_13[] = {
    {1, 0, "ResolutionStart", "hostNameOrAddress:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_14[] = {
    {1, 0, "ConnectStart", "address:z"},
    {3, 0, "ConnectFailed", "error:i4 exceptionMessage:z"},
    {4, 0, "AcceptStart", "address:z"},
    {6, 0, "AcceptFailed", "error:i4 exceptionMessage:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_15[] = {
    {1, 0, "ParallelLoopBegin",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ForkJoinContextID:i4 "
     "OperationType:i4=ForkJoinOperationTypeMap "
     "InclusiveFrom:i8 ExclusiveTo:i8"},
    {2, 0, "ParallelLoopEnd",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ForkJoinContextID:i4 TotalIterations:i8"},
    {3, 0, "ParallelInvokeBegin",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ForkJoinContextID:i4 "
     "OperationType:i4=ForkJoinOperationTypeMap "
     "ActionCount:i4"},
    {4, 0, "ParallelInvokeEnd",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ForkJoinContextID:i4"},
    {5, 0, "ParallelFork",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ForkJoinContextID:i4"},
    {6, 0, "ParallelJoin",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ForkJoinContextID:i4"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_16[] = {
    {7, 1, "TaskScheduled",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 TaskID:i4 CreatingTaskID:i4 "
     "TaskCreationOptions:i4 appDomain:i4"},
    {8, 0, "TaskStarted", "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 TaskID:i4"},
    {9, 1, "TaskCompleted",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 TaskID:i4 IsExceptional:b"},
    {10, 3, "TaskWaitBegin",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 TaskID:i4 Behavior:i4=TaskWaitBehaviorMap "
     "ContinueWithTaskID:i4"},
    {11, 0, "TaskWaitEnd", "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 TaskID:i4"},
    {12, 0, "AwaitTaskContinuationScheduled",
     "OriginatingTaskSchedulerID:i4 OriginatingTaskID:i4 ContinueWithTaskID:i4"},
    {13, 0, "TaskWaitContinuationComplete", "TaskID:i4"},
    {14, 1, "TraceOperationStart", "TaskID:i4 OperationName:z RelatedContext:i8"},
    {15, 1, "TraceOperationStop", "TaskID:i4 Status:i4=AsyncCausalityStatusMap"},
    {16, 1, "TraceOperationRelation", "TaskID:i4 Relation:i4=CausalityRelationMap"},
    {17, 0, "TraceSynchronousWorkBegin", "TaskID:i4 Work:i4=CausalitySynchronousWorkMap"},
    {18, 0, "TraceSynchronousWorkEnd", "Work:i4=CausalitySynchronousWorkMap"},
    {19, 0, "TaskWaitContinuationStarted", "TaskID:i4"},
    {20, 0, "NewID", "TaskID:i4"},
    {25, 0, "TaskWaitInlined", "TaskID:i4"},
    {27, 0, "IncompleteAsyncMethod", "stateMachineDescription:z"},
    {0, 0, NULL, NULL},
};

static const struct clr_event events_17[] = {
    {0, 0, "ExistingProcess", "NamespaceId:v Name:t NamespaceName:t"},
    {1, 0, "ProcessCreate", "NamespaceId:v Name:t NamespaceName:t"},
    {3, 0, "ProcessMapping",
     "Id:v StartAddress:v EndAddress:v FileOffset:v FileName:t MetadataId:v"},
    {4, 0, "ProcessSymbol", "Id:v MappingId:v StartAddress:v EndAddress:v Name:t"},
    {5, 0, "ProcessMappingMetadata", "Id:v SymbolMetadata:t VersionMetadata:t"},
    {0, 0, NULL, NULL},
};

const struct clr_provider clr_providers[] = {
    {"Microsoft-Diagnostics-DiagnosticSource", events_0},
    {"Microsoft-DotNETCore-EventPipe", events_1},
    {"Microsoft-DotNETCore-SampleProfiler", events_2},
    {"Microsoft-DotNETRuntimeMonoProfiler", clr_mono_events},
    {"Microsoft-Extensions-DependencyInjection", events_4},
    {"Microsoft-IO-RecyclableMemoryStream", events_5},
    {"Microsoft-Windows-DotNETRuntime", clr_runtime_events},
    {"Microsoft-Windows-DotNETRuntimePrivate", clr_private_events},
    {"Microsoft-Windows-DotNETRuntimeRundown", events_8},
    {"Microsoft-Windows-DotNETRuntimeStress", events_9},
    {"System.Buffers.ArrayPoolEventSource", events_10},
    {"System.Diagnostics.Eventing.FrameworkEventSource", events_11},
    {"System.Net.Http", events_12},
    {"System.Net.NameResolution", events_13},
    {"System.Net.Sockets", events_14},
    {"System.Threading.Tasks.Parallel.EventSource", events_15},
    {"System.Threading.Tasks.TplEventSource", events_16},
    {"Universal.System", events_17},
};
const size_t clr_providers_n = sizeof clr_providers / sizeof *clr_providers;
