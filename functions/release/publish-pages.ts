/**
 * Puts the pages of this release into the bucket of the portal. CloudFormation asks for it at each deployment
 * with other pages. Files of the release before stay: a page that is open in a browser still asks for them.
 */
import * as z from 'zod';
import {
  hasAddresses,
  inOrderOfPublishing,
  pageHeaders,
  withAddresses,
} from '../../core/portal/page-files.ts';
import { lambdaHandler } from '../lambda-handler.ts';
import { pagesServices, type PagesServices } from '../services/pages.ts';

const requestSchema = z.object({
  RequestType: z.enum(['Create', 'Update', 'Delete']),
  ResponseURL: z.string(),
  StackId: z.string(),
  RequestId: z.string(),
  LogicalResourceId: z.string(),
});

/**
 * Answers a request of CloudFormation. It always answers: a deployment without an answer hangs until its time
 * limit. Throws only when the answer cannot be sent.
 */
export async function publishPages(event: unknown, services: PagesServices): Promise<void> {
  const { RequestType, ResponseURL, ...ids } = requestSchema.parse(event);
  const failure = RequestType === 'Delete' ? undefined : await publish(services).catch(reasonOf);
  if (failure !== undefined) services.log.info('pages_not_published', { reason: failure });
  await services.answer(ResponseURL, {
    ...ids,
    PhysicalResourceId: services.bucket,
    Status: failure === undefined ? 'SUCCESS' : 'FAILED',
    Reason: failure ?? 'the pages are published',
  });
}

async function publish({ files, store, addresses, log }: PagesServices): Promise<undefined> {
  const names = inOrderOfPublishing(await files.list());
  for (const name of names) {
    const bytes = await files.read(name);
    const stored = hasAddresses(name)
      ? Buffer.from(withAddresses(Buffer.from(bytes).toString('utf8'), addresses))
      : bytes;
    await store.put(name, stored, pageHeaders(name));
  }
  log.info('pages_published', { files: names.length });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const handler = lambdaHandler(pagesServices, publishPages);
