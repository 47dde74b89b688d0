import { relative } from 'node:path';
import { Option } from 'commander';
import {
  mostCount,
  type PlainField,
  type PlainMembers,
  type PlainName,
  plainRows,
  plainShown,
  plainWords,
} from '../../../service/contract/request-fields.ts';
import type { Darkroom } from '../../src/darkroom.ts';
import type { Creation, ImageRequest, Model } from '../../src/types/generated.ts';
import { checkedId } from '../checked.ts';
import { CommandError, repeatWith } from '../complaint.ts';
import { formatOf, imageFile, saveImages, targetOf } from '../image-files.ts';
import { collected, pairs, usd, wholeNumber } from '../options.ts';
import { type SessionCommand, type Session, startProgress } from '../session.ts';
import { visibleText } from '../terminal/visible-text.ts';
import { leastPrice } from './account.ts';

interface GenerateOptions extends PlainMembers {
  readonly model?: string;
  readonly resolution?: ImageRequest['resolution'];
  readonly aspectRatio?: ImageRequest['aspect_ratio'];
  readonly image?: readonly string[];
  readonly mask?: string;
  readonly output?: string;
  readonly format?: ImageRequest['output_format'];
  readonly count?: number;
  readonly maxCost?: number;
  readonly user?: string;
  readonly metadata?: Record<string, string>;
  readonly webhookUrl?: string;
  readonly idempotencyKey?: string;
  readonly timeout: number;
  readonly dryRun?: boolean;
  readonly open?: boolean;
  readonly preview: boolean;
}

export function addGenerateCommand(program: SessionCommand): void {
  const command = program
    .command('generate')
    .argument('[prompt]', 'what to draw; may be left out with --image')
    .description('render an image, save it, and print the path of the file')
    .option('-m, --model <id>', 'the model; without it DARKROOM_MODEL, or the cheapest that is available')
    .addOption(new Option('-r, --resolution <size>', 'the size').choices(['1K', '2K', '4K']))
    .option('-a, --aspect-ratio <ratio>', 'the shape, such as 16:9')
    .option('-i, --image <path|url>', 'a source image; may be repeated; a file is uploaded', collected)
    .option('--mask <path|url>', 'a PNG of the size of the first image: what is see-through may change')
    .option('-o, --output <file>', 'a file or folder; its ending chooses the format')
    .addOption(new Option('-f, --format <format>', 'the format').choices(['png', 'jpeg', 'webp']));
  for (const [name, field] of plainRows) command.addOption(plainOption(name, field));
  command
    .option(
      '-n, --count <number>',
      'how many images, each a creation; all are charged, or none',
      wholeNumber(1, mostCount),
    )
    .option('--max-cost <usd>', 'refuse a higher price (exit code 4)', usd)
    .option('--user <user>', 'for which user of yours')
    .option('--metadata <name=value>', 'kept with the creation; may be repeated', pairs)
    .option('--webhook-url <url>', 'where the service reports the end')
    .option('--idempotency-key <key>', 'repeat an earlier command without a second charge')
    .option('--timeout <seconds>', 'give up waiting after so long', wholeNumber(1, 3600), 900)
    .option('--dry-run', 'only say what it would cost')
    .option('--open', 'open the image')
    .option('--no-preview', 'do not show the image in the terminal')
    .run(generate);
}

function plainOption(name: PlainName, field: PlainField): Option {
  const flag = `--${name.replaceAll('_', '-')}`;
  const { hint } = plainWords[name];
  if (field.kind === 'choice') return new Option(`${flag} <choice>`, hint).choices(field.values);
  if (field.kind === 'text') return new Option(`${flag} <text>`, hint);
  return new Option(`${flag} <number>`, hint).argParser(wholeNumber(field.least, field.most));
}

async function generate(
  session: Session,
  prompt: string | undefined,
  options: GenerateOptions,
): Promise<void> {
  if (prompt === undefined && options.image === undefined) {
    throw new CommandError(
      'usage',
      'A prompt or a source image is needed.',
      'Say what to draw: darkroom generate "a lake"',
    );
  }
  const { io } = session;
  const client = await session.client();
  const target = await targetOf(session, options.output, options.count);
  const progress = startProgress(session);
  try {
    const request = await requestOf(session, client, prompt, options, progress.tell);
    if (options.dryRun === true) {
      progress.end();
      session.output.show({ ...(await client.images.quote(request, { signal: io.signal })) });
      return;
    }
    const idempotencyKey = options.idempotencyKey ?? io.uuid();
    progress.tell(`${request.model} is rendering`);
    const started = io.now();
    const { signal } = io;
    const timeoutMs = options.timeout * 1000;
    let id: string | undefined;
    const wait = {
      signal,
      timeoutMs,
      onPoll: (polled: Creation) => {
        id = checkedId(polled.id);
        progress.tell(`${id}: ${polled.status}`);
      },
    };
    const { count, ...one } = request;
    const ended =
      count == null
        ? [client.images.generateAndWait(one, { ...wait, idempotencyKey })]
        : (await client.images.generate({ ...one, count }, { signal, idempotencyKey })).data.map((creation) =>
            client.creations.wait(creation, wait),
          );
    const outcomes = await Promise.allSettled(ended);
    progress.end();
    const completed = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const paths: string[] = [];
    for (const creation of completed) {
      paths.push(...(await saveImages(session, client, creation, { target, shows: options.preview })));
      const seconds = ((io.now() - started) / 1000).toFixed(1);
      session.note(`${creation.id}  ${creation.cost} USD  ${seconds} s`);
    }
    const [creation] = completed;
    if (creation) printFiles(session, count == null ? { creation } : { creations: completed }, paths);
    if (options.open === true) for (const path of paths) io.open(path);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed && signal.aborted) throw interrupted(idempotencyKey, id, failed.reason);
    if (failed) throw failed.reason;
  } finally {
    progress.end();
  }
}

/** What continues after Ctrl-C, and how to get the image. */
function interrupted(key: string, id: string | undefined, cause: unknown): CommandError {
  const [told, fix] =
    id === undefined
      ? ['The image may still be rendered.', repeatWith(key)]
      : [`The creation ${id} goes on.`, `\`darkroom creations wait ${id} -o FILE\` gets its image.`];
  return new CommandError('failed', `Interrupted. ${told}`, fix, { cause });
}

/** Prints only the paths, relative to the folder of the person. */
export function printFiles(
  { io, options, output }: Session,
  made: Readonly<Record<string, unknown>>,
  paths: readonly string[],
): void {
  const files = paths.map((path) => relative(io.folder, path) || path);
  if (options.json === true) output.show({ files, ...made });
  else for (const file of files) io.out.write(`${file}\n`);
}

async function requestOf(
  session: Session,
  client: Darkroom,
  prompt: string | undefined,
  options: GenerateOptions,
  tell: (text: string) => void,
): Promise<ImageRequest> {
  const image_urls: string[] = [];
  for (const image of options.image ?? []) {
    image_urls.push(await sourceImage(session, client, image, tell));
  }
  const { mask } = options;
  const mask_url = mask === undefined ? undefined : await sourceImage(session, client, mask, tell);
  const { resolution, aspectRatio, maxCost, user, metadata, webhookUrl } = options;
  const format = options.format ?? formatOf(options.output);
  return {
    model:
      options.model ??
      (session.io.env['DARKROOM_MODEL'] || (await cheapest(session, client, image_urls.length, options))),
    ...(prompt !== undefined && { prompt }),
    ...(image_urls.length > 0 && { image_urls }),
    ...(mask_url !== undefined && { mask_url }),
    ...(resolution !== undefined && { resolution }),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(format !== undefined && { output_format: format }),
    ...plainShown(options),
    ...(options.count !== undefined && { count: options.count }),
    ...(maxCost !== undefined && { max_cost: maxCost }),
    ...(user !== undefined && { user }),
    ...(metadata !== undefined && { metadata }),
    ...(webhookUrl !== undefined && { webhook_url: webhookUrl }),
  };
}

async function sourceImage(
  { io }: Session,
  client: Darkroom,
  image: string,
  tell: (text: string) => void,
): Promise<string> {
  if (/^(https?:\/\/|upload:)/.test(image)) return image;
  tell(`${image} is uploading`);
  return client.uploads.create(await imageFile(io, image), { signal: io.signal });
}

/** The cheapest model that takes the request. Its name is printed, because the user named none. */
async function cheapest(
  { io, note }: Session,
  client: Darkroom,
  images: number,
  { mask, negativePrompt, background, quality = 'auto' }: GenerateOptions,
): Promise<string> {
  const models = await client.models.list({ signal: io.signal });
  const takes = (model: Model): boolean =>
    model.available &&
    (images === 0 || (model.supports_image_input && model.max_image_urls >= images)) &&
    (mask === undefined || model.supports_mask) &&
    (negativePrompt === undefined || model.supports_negative_prompt) &&
    (background !== 'transparent' || model.supports_background) &&
    (quality === null || quality === 'auto' || model.qualities.includes(quality));
  const [first] = models.filter(takes).toSorted((one, other) => leastPrice(one) - leastPrice(other));
  if (!first) {
    throw new CommandError(
      'failed',
      'No model of your account can render this.',
      '`darkroom models` lists them.',
    );
  }
  note(`Model: ${visibleText(first.id)}, the cheapest. Choose another with -m.`);
  return first.id;
}
