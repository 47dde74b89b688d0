/**
 * Puts the pages of this release into the bucket of the portal. CloudFormation asks for it at each deployment
 * with other pages. Files of the release before stay: a page that is open in a browser still asks for them. When
 * the stack is deleted, or its first deployment is rolled back, the bucket is emptied, because S3 deletes only an
 * empty bucket.
 */
import * as z from 'zod';
import { answerRequest, requestSchema } from './custom-resource.ts';
import type { PagesServices } from './open.ts';
import { hasAddresses, inOrderOfPublishing, pageHeaders, withAddresses } from './page-files.ts';

const pagesRequestSchema = requestSchema.extend({
  ResourceProperties: z.object({ Bucket: z.string().optional() }).default({}),
});

/** Answers a request of CloudFormation. Throws only when the answer cannot be sent. */
export async function publishPages(event: unknown, services: PagesServices): Promise<void> {
  const { ResourceProperties: properties, ...request } = pagesRequestSchema.parse(event);
  const isDeleted = request.RequestType === 'Delete';
  // After a bucket was replaced, the request names the bucket before. The pages are in the new one.
  const isOther = properties.Bucket !== services.bucket;
  const failure = await answerRequest(request, services, {
    physicalId: services.bucket,
    run: async () => {
      if (!isDeleted) await publish(services);
      else if (!isOther) await removePages(services);
    },
    done: isDeleted ? 'the pages are removed' : 'the pages are published',
  });
  if (failure !== undefined)
    services.log.info(isDeleted ? 'pages_not_removed' : 'pages_not_published', { reason: failure });
}

async function publish({ files, store, addresses, log }: PagesServices): Promise<void> {
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

/** A list has up to 1,000 names, and what was removed is not in the next list. */
async function removePages({ store, log }: PagesServices): Promise<void> {
  let removed = 0;
  for (let names = await store.list(); names.length > 0; names = await store.list()) {
    for (const name of names) await store.remove(name);
    removed += names.length;
  }
  log.info('pages_removed', { files: removed });
}
