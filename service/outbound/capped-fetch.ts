/** An answer of an issuer is a few kilobytes. */
const mostBytes = 256 * 1024;

/** fetch() that waits for the whole answer, and throws when the answer is too long. */
export async function cappedFetch(address: string, init: object): Promise<Response> {
  const response = await fetch(address, init);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new Error('the answer is too long');
  }
  const { status, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}
