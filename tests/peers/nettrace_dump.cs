// Prints what TraceEvent finds in a nettrace trace, a line an event: time, process, thread, provider, id, name, level, keywords, opcode, activities,
// [payload], fields, {stack}; then how many events it says are lost.  To be compiled together with TraceEvent's sources, whose inner parts it sees
// (events without their stacks are all that it shows to others).  usage: nettrace_dump TRACE OUTPUT
using System;
using System.IO;
using System.Text;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.EventPipe;
using Microsoft.Diagnostics.Tracing.Parsers;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

unsafe static class NettraceDump
{
    static StreamWriter output;

    static string Hex(byte* bytes, int n)
    {
        var text = new StringBuilder(2 * n);
        for (int i = 0; i < n; i++)
            text.Append(bytes[i].ToString("x2"));
        return text.ToString();
    }

    static string Fields(TraceEvent e)
    {
        var text = new StringBuilder();
        for (int i = 0; i < e.PayloadNames.Length; i++)
            text.Append(' ').Append(e.PayloadNames[i]).Append('=').Append(e.PayloadString(i));
        return text.ToString().Replace("\n", "\\n").Replace("\r", "\\r").Replace("\0", "\\0");
    }

    static string Stack(TraceEventNativeMethods.EVENT_RECORD* record)
    {
        for (int i = 0; i < record->ExtendedDataCount; i++) {
            var item = record->ExtendedData + i;
            if (item->ExtType == TraceEventNativeMethods.EVENT_HEADER_EXT_TYPE_STACK_TRACE64 ||
                item->ExtType == TraceEventNativeMethods.EVENT_HEADER_EXT_TYPE_STACK_TRACE32)
                return Hex((byte*)item->DataPtr + 8, item->DataSize - 8);
        }
        return "";
    }

    static void Print(TraceEvent e)
    {
        var record = e.eventRecord;
        output.WriteLine($"{e.TimeStamp.Ticks} {e.ProcessID} {e.ThreadID} {e.ProviderName} {(int)e.ID} {e.EventName} {(int)e.Level} " +
                         $"{(ulong)e.Keywords:x} {(int)e.Opcode} {e.ActivityID} {e.RelatedActivityID} " +
                         $"[{Hex((byte*)record->UserData, record->UserDataLength)}]{Fields(e)} {{{Stack(record)}}}");
    }

    static void Main(string[] words)
    {
        output = new StreamWriter(words[1]);
        using (var source = new EventPipeEventSource(words[0])) {
            source.Clr.All += Print;
            new ClrRundownTraceEventParser(source).All += Print;
            new SampleProfilerTraceEventParser(source).All += Print;
            source.Dynamic.All += Print;
            source.UnhandledEvents += Print;
            source.Process();
            output.WriteLine($"lost {source.EventsLost}");
        }
        output.Dispose();
    }
}
