/**
 * `npm run lab -- memory`: the least memory with which the bundle of RenderImage renders the largest order of
 * each vendor. The bundle runs in a process of its own, with the limits of V8 that Lambda sets, over the AWS of
 * the one machine and the fakes of the vendors.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import * as z from 'zod';
import { createAccount } from '../../admin/commands/accounts.ts';
import { issueKey } from '../../admin/commands/keys.ts';
import { createOutput, type Output, type Row } from '../../client/command/terminal/output.ts';
import { wholeNumber } from '../../client/command/terminal/whole-number.ts';
import { rendererSizes } from '../../lib/renderer-sizes.ts';
import type { LocalFunction } from '../../local/template.ts';
import type { VendorName } from '../../service/catalog/providers.ts';
import type { OutputFormat, Resolution } from '../../service/contract/request-fields.ts';
import { type Renderer, renderers } from '../../service/creations/machines.ts';
import { settled, submit } from '../../start/creations.ts';
import { type RunningService, startService } from '../../start/service.ts';
import { functionName } from '../function-name.ts';
import { fakes, vendorNames } from '../vendors/fakes/all-fakes.ts';
import { type FakeVendor, pictureOf, pngWith, startFakeVendor } from '../vendors/fakes/fake-vendor.ts';
import { enableAll, environmentOf } from '../vendors/fleet.ts';

/** Resolves with whether every renderer has enough memory. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false, pictures } = new Command('npm run lab -- memory')
    .description('Find the least memory with which each renderer renders its largest orders')
    .option('--pictures <number>', 'how many pictures one renderer makes in a row', '4')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ pictures: string; json?: boolean }>();
  return benchMemory({
    pictures: wholeNumber('--pictures', pictures),
    output: createOutput(json, (line) => console.log(line)),
    tell: (line) => console.error(line),
  });
}

/** Vendor, model of the catalog, resolution, number of source images, and the bytes of each of them. */
type Order = readonly [VendorName, string, Resolution, number?, number?];

/** The largest order of each vendor for each renderer, with source images as large as vendor and service accept. */
const orders: Readonly<Record<Renderer, readonly Order[]>> = {
  small: [
    ['openai', 'gpt-image-2', '1K'],
    ['google', 'gemini-3.1-flash-image', '1K'],
    ['bedrock', 'sd3.5-large', '1K'],
    ['bfl', 'flux-2-pro', '1K'],
    ['fal', 'flux-2-pro', '1K'],
    ['replicate', 'flux-2-pro', '1K'],
  ],
  large: [
    ['openai', 'gpt-image-2', '4K'],
    ['google', 'gemini-3.1-flash-image', '4K'],
    ['bfl', 'flux-2-pro', '2K'],
    ['fal', 'flux-2-pro', '2K'],
    ['replicate', 'flux-2-pro', '2K'],
  ],
  any: [
    ['openai', 'gpt-image-2', '4K', 10, 10_000_000],
    ['google', 'gemini-3.1-flash-image', '4K', 10, 7_000_000],
    ['bfl', 'flux-2-pro', '2K', 8, 10_000_000],
    ['fal', 'flux-2-pro', '2K', 8, 5_000_000],
    ['replicate', 'flux-2-pro', '2K', 8, 10_000_000],
  ],
};

/** The sizes that are tried, in MB. */
const sizes = [
  192, 256, 320, 384, 448, 512, 576, 640, 768, 896, 1_024, 1_152, 1_280, 1_536, 1_769, 2_048, 2_560, 3_072,
] as const;
/** The peak may take this share of a function's memory. The rest is reserve. */
const mostShare = 0.8;
const mebibyte = 1_048_576;

/**
 * Loads the bundle of RenderImage as Lambda does, and renders the creations of the command line, one after the other.
 * An environment of Lambda stays warm and does the same. Prints one line of JSON with its largest resident memory and
 * its processor time for each creation.
 */
const child = `
  const [bundle, ...creations] = process.argv.slice(1);
  const { handler } = await import(bundle);
  const { readFileSync } = await import('node:fs');
  // The largest resident size of getrusage would be at least that of the process that started this one.
  const peakBytes = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
  const loadedBytes = peakBytes();
  const before = process.cpuUsage();
  for (const creation_id of creations) await handler({ creation_id }, { awsRequestId: 'bench-' + creation_id });
  const { user, system } = process.cpuUsage(before);
  const cpuMillisEach = (user + system) / 1000 / creations.length;
  console.log(JSON.stringify({ loadedBytes, peakBytes: peakBytes(), cpuMillisEach }));
`;
const reportSchema = z.object({ loadedBytes: z.number(), peakBytes: z.number(), cpuMillisEach: z.number() });
const execute = promisify(execFile);

const functionOf: Readonly<Record<Renderer, string>> = {
  any: 'RenderImage',
  small: 'RenderImageSmall',
  large: 'RenderImageLarge',
};

type Tell = (line: string) => void;

interface Stage {
  readonly service: RunningService;
  readonly environment: Readonly<Record<string, string>>;
  /** The origin of the source images. */
  readonly sources: string;
}

interface MemoryBench {
  /** How many pictures a process renders one after the other. */
  readonly pictures: number;
  readonly output: Output;
  readonly tell: Tell;
}

/** True when each renderer has the memory that its largest order needs. */
async function benchMemory({ pictures, output, tell }: MemoryBench): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-memory-'));
  const vendors = new Map<string, FakeVendor>();
  for (const name of vendorNames) vendors.set(name, await fakes[name].start(heavyPicture));
  const host = await startSourceHost();
  const environment = environmentOf(vendors);
  const service = await startService({
    folder,
    port: 0,
    strictOutbound: false,
    environment,
    onProgress: tell,
  });
  try {
    await enableAll(service.operator);
    // No execution starts, so that only the measured process renders.
    service.machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
    const stage = { service, environment, sources: host.url };
    const rows: Row[] = [];
    for (const renderer of [...renderers].reverse())
      for (const order of orders[renderer])
        rows.push(await measureOrder(stage, renderer, order, pictures, tell));
    output.list(rows, 'There is no case.');
    return rows.every(({ finding }) => finding === null);
  } finally {
    await service.machine.stop();
    await host.stop();
    await Promise.all([...vendors.values()].map((vendor) => vendor.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Tries larger and larger sizes, until the peak leaves the reserve. */
async function measureOrder(
  stage: Stage,
  renderer: Renderer,
  order: Order,
  pictures: number,
  tell: Tell,
): Promise<Row> {
  const [vendor, , resolution, sources = 0, sourceBytes = 0] = order;
  const given = rendererSizes[renderer].memoryMegabytes;
  let least: number | undefined;
  let report: z.infer<typeof reportSchema> | undefined;
  for (const megabytes of sizes) {
    // A process does not need less because it may have more.
    if (report !== undefined && report.peakBytes > megabytes * mebibyte * mostShare) continue;
    report = await render(stage, renderer, order, { megabytes, pictures });
    tell(
      `${vendor} ${resolution}, ${sources} sources, ${megabytes} MB: ${shown(report?.peakBytes) ?? 'died'}`,
    );
    if (report === undefined || report.peakBytes > megabytes * mebibyte * mostShare) continue;
    least = megabytes;
    break;
  }
  return {
    renderer,
    vendor,
    resolution,
    sources,
    source_mb: sourceBytes / 1_000_000,
    loaded_mb: shown(report?.loadedBytes),
    peak_mb: shown(report?.peakBytes),
    least_mb: least ?? null,
    given_mb: given,
    cpu_ms: report === undefined ? null : Math.round(report.cpuMillisEach),
    // With less than 1,769 MB a function has a share of a processor.
    work_ms_given:
      report === undefined ? null : Math.round(report.cpuMillisEach * Math.max(1, 1_769 / given)),
    finding: least === undefined || least > given ? 'too little' : null,
  };
}

function shown(bytes: number | undefined): number | null {
  return bytes === undefined ? null : Math.round(bytes / mebibyte);
}

/** What the process used; undefined when it died. */
async function render(
  { service, environment, sources: origin }: Stage,
  renderer: Renderer,
  [vendor, model, resolution, sources = 0, sourceBytes = 0]: Order,
  { megabytes, pictures }: { readonly megabytes: number; readonly pictures: number },
): Promise<z.infer<typeof reportSchema> | undefined> {
  const account = await createAccount(service.operator, { name: vendor, balance: '1000' });
  await service.operator.accounts.change(account.id, { providers: [vendor] });
  const { key } = await issueKey(service.operator, account, { name: vendor });
  const image_urls = Array.from({ length: sources }, () => `${origin}/${sourceBytes}.png`);
  const body = { model, prompt: 'a lake', resolution, ...(sources > 0 && { image_urls }) };
  const ids: string[] = [];
  for (let picture = 0; picture < pictures; picture += 1) ids.push(await submit(service, key, body));
  const fn = service.machine.template.functions.find(({ id }) => functionName(id) === functionOf[renderer]);
  if (!fn) throw new Error('the template has no such renderer');
  const limits = [
    `--max-old-space-size=${Math.floor(megabytes * 0.9)}`,
    `--max-semi-space-size=${Math.max(1, Math.floor(megabytes * 0.05))}`,
  ];
  try {
    const variables = {
      ...fn.environment,
      ...environment,
      ...identityOf(fn, service.machine.awsUrl),
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(megabytes),
    };
    const bundle = pathToFileURL(join(fn.codeFolder, 'index.mjs')).href;
    const { stdout } = await execute(
      process.execPath,
      [...limits, '--input-type=module', '-e', child, bundle, ...ids],
      {
        env: variables,
        maxBuffer: 16 * mebibyte,
      },
    );
    for (const id of ids) {
      const { status } = await settled(service, id as Parameters<typeof settled>[1]);
      if (status !== 'completed') throw new Error(`a creation ended as ${status}`);
    }
    return reportSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  } catch (error) {
    // V8 aborts the process when the heap is full.
    if (error instanceof Error && 'signal' in error && error.signal === 'SIGABRT') return undefined;
    throw error;
  }
}

/** What Lambda sets: the region, and the identity by which the local AWS knows the function. */
function identityOf({ roleId }: LocalFunction, awsUrl: string): Readonly<Record<string, string>> {
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: roleId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: awsUrl,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
}

/** A PNG of noise weighs four bytes a pixel when it has transparency. A JPEG or WebP of the best quality weighs less. */
const bytesPerPixel = 1.5;

const painted = new Map<string, Buffer>();

/** Paints each picture once, because to paint a large one takes a second. */
function heavyPicture(format: OutputFormat, width: number, height: number): Buffer {
  const name = `${format} ${width}x${height}`;
  const picture =
    painted.get(name) ??
    (format === 'png'
      ? pngWith(width, height, 6, randomBytes((width * 4 + 1) * height))
      : filledUp(pictureOf(format, width, height), width * height * bytesPerPixel));
  painted.set(name, picture);
  return picture;
}

/** A source image of this many bytes. */
function heavySource(bytes: number): Buffer {
  return filledUp(pictureOf('png', 2048, 2048), bytes);
}

function filledUp(picture: Buffer, bytes: number): Buffer {
  return Buffer.concat([picture, randomBytes(Math.max(0, bytes - picture.byteLength))]);
}

/** A host of source images on loopback. `/10000000.png` is an image of ten million bytes. */
function startSourceHost(): Promise<FakeVendor> {
  return startFakeVendor(({ path }) => ({
    status: 200,
    headers: { 'content-type': 'image/png' },
    body: heavySource(Number(/^\/(\d+)\.png$/.exec(path)?.[1] ?? 0)),
  }));
}
