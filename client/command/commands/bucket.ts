/** The commands `bucket show`, `set`, `copy` and `remove`. */
import { type ApiError, InvalidRequest, NotFound } from '../../src/errors.ts';
import type { ResultsBucketRequest } from '../../src/types/generated.ts';
import { readSecret } from '../ask.ts';
import { CommandError } from '../complaint.ts';
import type { Session, SessionCommand } from '../session.ts';

const variable = 'DARKROOM_BUCKET_SECRET';

export function addBucketCommands(program: SessionCommand): void {
  const bucket = program.task('bucket', 'the bucket of your own that gets a copy of each image');
  bucket.task('show', 'where the copies go; its keys are never shown').run(show);
  bucket
    .task('set <name>', `set it; its secret access key is typed without an echo, piped in, or in ${variable}`)
    .requiredOption('--endpoint <url>', 'the service that speaks S3, such as https://s3.example.com')
    .requiredOption('--region <region>', 'such as eu-central-1; some services take auto')
    .requiredOption('--access-key-id <id>', 'of keys that may put objects')
    .option('--prefix <prefix>', 'what stands before the name of each object, such as darkroom/')
    .run(set);
  bucket.task('copy <id>', 'copy the image of a completed creation again').run(copy);
  bucket.task('remove', 'copy nothing any more; what lies in the bucket stays').run(remove);
}

async function show({ io, output, client }: Session): Promise<void> {
  const { bucket } = (await client()).results;
  output.show({ ...(await bucket.get({ signal: io.signal }).catch(noBucket)) });
}

interface SetOptions extends Pick<ResultsBucketRequest, 'endpoint' | 'region' | 'prefix'> {
  readonly accessKeyId: string;
}

async function set({ io, output, client }: Session, name: string, options: SetOptions): Promise<void> {
  const { accessKeyId, endpoint, region, prefix } = options;
  // Without a key of the service, nobody types a secret for nothing.
  const { bucket } = (await client()).results;
  const question = `Secret access key of ${accessKeyId}: `;
  const secret = io.env[variable] || (await readSecret(question, io));
  if (secret === '') {
    const fix = `Type it at the question, pipe it in, or set ${variable}.`;
    throw new CommandError('usage', 'No secret access key was given.', fix);
  }
  const credentials = { access_key_id: accessKeyId, secret_access_key: secret };
  const body = { endpoint, bucket: name, region, ...(prefix !== undefined && { prefix }), credentials };
  const stored = await bucket.set(body, { signal: io.signal }).catch((error: unknown) => {
    const refused =
      error instanceof InvalidRequest && error.errors.find(({ code }) => code === 'bucket_refused');
    if (!refused) throw error;
    const fix = 'Check the endpoint, the region, the name, both keys and what they may do.';
    throw new CommandError('usage', `Nothing was set: ${refused.message}.`, fix, { cause: error });
  });
  output.show(
    { ...stored },
    `The image of each request from now on is copied to ${stored.endpoint}/${stored.bucket}/${stored.prefix}ID.png, .jpg or .webp. \`darkroom bucket copy ID\` copies an older one.`,
  );
}

async function copy({ io, options, output, client }: Session, id: string): Promise<void> {
  const { bucket } = (await client()).results;
  const creation = await bucket.copy(id, { signal: io.signal }).catch(async (error: unknown) => {
    if (error instanceof InvalidRequest) {
      const fix = fixOf(error, id);
      throw fix === undefined ? error : withFix(error, fix);
    }
    if (!(error instanceof NotFound)) throw error;
    // The answer is the same for a bucket and for a creation that is not there.
    await bucket.get({ signal: io.signal }).catch(noBucket);
    throw withFix(error, '`darkroom creations list` lists the creations of your account.');
  });
  output.show(
    options.json === true ? { ...creation } : { id: creation.id, copy: creation.copy?.status },
    `\`darkroom creations show ${creation.id}\` says when it is copied.`,
  );
}

async function remove({ io, output, client }: Session): Promise<void> {
  await (await client()).results.bucket.remove({ signal: io.signal });
  output.show({ bucket: 'removed' }, 'Nothing is copied any more. What lies in the bucket stays.');
}

/** What to do when a creation cannot be copied, by the reason of the answer. */
function fixOf({ reason, details }: InvalidRequest, id: string): string | undefined {
  switch (reason) {
    case 'still_pending':
      return `\`darkroom creations show ${id}\` says how it stands.`;
    case 'not_completed':
      return details['status'] === 'failed'
        ? 'A failed creation has no image.'
        : `\`darkroom creations wait ${id}\` waits for the image.`;
    case 'no_results':
      return 'There is nothing to copy: render the image again.';
    default:
      return undefined;
  }
}

function noBucket(error: unknown): never {
  if (!(error instanceof NotFound)) throw error;
  throw withFix(error, '`darkroom bucket set --help` says how to set one.');
}

function withFix(answer: ApiError, fix: string): CommandError {
  return new CommandError('failed', answer.message, fix, { cause: answer });
}
