/** What the functions of custom resources share: the request of CloudFormation, and its answer. */
import * as z from 'zod';

export const requestSchema = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  ResponseURL: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
});

interface CustomResourceServices {
  /** Sends the answer to the signed address. Throws when the address does not take it. */
  readonly answer: (url: string, answer: object) => Promise<void>;
}

interface CustomResourceWork {
  /** Another id than before makes CloudFormation delete the resource under the id before. */
  readonly physicalId: string;
  /** Returns the attributes of the resource, if it has any. */
  readonly run: () => Promise<Readonly<Record<string, string>> | undefined>;
  readonly done: string;
}

/** Runs the work and always answers CloudFormation, which would hang. Returns the reason of a failure. */
export async function answerRequest(
  { ResponseURL, RequestType: _type, ...ids }: z.output<typeof requestSchema>,
  services: CustomResourceServices,
  { physicalId, run, done }: CustomResourceWork,
): Promise<string | undefined> {
  let failure: string | undefined;
  const data = await run().catch((error: unknown) => void (failure = reasonOf(error)));
  await services.answer(ResponseURL, {
    ...ids,
    PhysicalResourceId: physicalId,
    ...(data && { Data: data }),
    Status: failure === undefined ? 'SUCCESS' : 'FAILED',
    Reason: failure ?? done,
  });
  return failure;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
