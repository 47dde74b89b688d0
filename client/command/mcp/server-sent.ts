/** The data of each server-sent event of a body, in order. The other fields of an event are of no use here. */
export async function* serverSentData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const part of body) {
    const lines = `${rest}${decoder.decode(part, { stream: true })}`.split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    }
  }
}
