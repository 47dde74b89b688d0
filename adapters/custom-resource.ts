/** The answer to CloudFormation: a PUT to the signed address that came with the request. */
export async function answerCloudFormation(url: string, answer: object): Promise<void> {
  // The signature covers an empty content type.
  const response = await fetch(url, {
    method: 'PUT',
    body: Buffer.from(JSON.stringify(answer)),
    headers: { 'content-type': '' },
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Error(`CloudFormation answered ${response.status}`);
}
