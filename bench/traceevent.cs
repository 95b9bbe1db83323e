// Reads a nettrace trace with TraceEvent as bench/measure does with the library, for bench/nettrace.py: prints one line of JSON with events, CPU seconds
// (of reading alone: neither the start of .NET nor that of this program), peak memory in KiB, and a sum that keeps everybody honest.
//
//   scan     all events, sorted as TraceEvent sorts them; time, thread and provider of each
//   stacks   and every address of their stacks
//   fields   and every value of their payloads, by the parsers of the runtime's events and of those that describe themselves
//
// To be compiled together with TraceEvent's sources, since stacks are seen only from within: without the part for ETW files a reader of nettrace is left
// that a .NET SDK compiles as it is (csc -unsafe -optimize -define:FASTSERIALIZATION_PUBLIC).  usage: traceevent scan|stacks|fields TRACE
using System;
using System.Diagnostics;
using System.IO;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.EventPipe;
using Microsoft.Diagnostics.Tracing.Parsers;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

unsafe static class Measure
{
    static long events, sum;

    static void Count(TraceEvent e)
    {
        events++;
        sum += e.TimeStampQPC + e.ThreadID + (int)e.ID;
    }

    static void Stack(TraceEvent e)
    {
        var record = e.eventRecord;
        Count(e);
        for (int i = 0; i < record->ExtendedDataCount; i++) {
            var item = record->ExtendedData + i;
            if (item->ExtType != TraceEventNativeMethods.EVENT_HEADER_EXT_TYPE_STACK_TRACE64 &&
                item->ExtType != TraceEventNativeMethods.EVENT_HEADER_EXT_TYPE_STACK_TRACE32)
                continue;
            var bytes = (ulong*)((byte*)item->DataPtr + 8);
            for (int n = (item->DataSize - 8) / 8; n > 0; n--)
                sum += (long)*bytes++;
        }
    }

    static void Fields(TraceEvent e)
    {
        Count(e);
        for (int i = 0; i < e.PayloadNames.Length; i++) {
            object value = e.PayloadValue(i);
            sum += value is string text ? text.Length : value == null ? 0 : 1;
        }
    }

    static void Read(string mode, string path)
    {
        using (var source = new EventPipeEventSource(path)) {
            if (mode == "fields") {
                source.Clr.All += Fields;
                new ClrRundownTraceEventParser(source).All += Fields;
                new SampleProfilerTraceEventParser(source).All += Fields;
                source.Dynamic.All += Fields;
                source.UnhandledEvents += Count;
            } else if (mode == "stacks") {
                source.AllEvents += Stack;
            } else {
                source.AllEvents += Count;
            }
            source.Process();
        }
    }

    static int Main(string[] words)
    {
        if (words.Length != 2 || Array.IndexOf(new[] {"scan", "stacks", "fields"}, words[0]) < 0) {
            Console.Error.WriteLine("usage: traceevent scan|stacks|fields TRACE");
            return 2;
        }
        var self = Process.GetCurrentProcess();
        double begin = self.TotalProcessorTime.TotalSeconds;
        Read(words[0], words[1]);
        self.Refresh();
        double seconds = self.TotalProcessorTime.TotalSeconds - begin;
        Console.WriteLine($"{{\"events\": {events}, \"cpu_s\": {seconds:F6}, \"rss_kib\": {self.PeakWorkingSet64 / 1024}, \"sum\": {sum}}}");
        return 0;
    }
}
