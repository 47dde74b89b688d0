/** Providers that an operator configures: `providers add` and `providers show`. */
import { readFile } from 'node:fs/promises';
import type { Row } from '../../client/command/terminal/output.ts';
import { readWorkflow, type Workflows } from '../../service/catalog/comfyui-workflow.ts';
import { providerDefinitionSchema } from '../../service/catalog/provider-definition-schema.ts';
import type { ProviderDefinition } from '../../service/catalog/provider-definition.ts';
import { compatibleStyleNames, type Style, styleNames } from '../../service/catalog/providers.ts';
import type { ProviderName } from '../../service/catalog/providers.ts';
import { literalAddress } from '../../service/outbound/client-url.ts';
import { isReachableInside } from '../../service/outbound/public-address.ts';
import { styles } from '../../service/vendors/compatible/styles.ts';
import { callbackAccountOf } from '../../service/vendors/provider.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { readMerged, storeParts } from '../catalog/merged-catalog.ts';
import { FileProblems, OperatorError, whatIsRight } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';
import { readSecret } from '../terminal/dialogue.ts';

interface AddOptions {
  readonly baseUrl: string;
  readonly style: string;
  readonly key?: boolean;
  readonly title?: string;
  readonly allowPrivate?: boolean;
  readonly imageHost: readonly string[];
  readonly set: readonly string[];
  readonly workflow?: string;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function addConfiguredProviderCommands(command: OperatorCommand): void {
  command
    .task(
      'add <name>',
      'an own GPU, a proxy or a vendor that speaks a known shape; a name that you added before is replaced',
    )
    .requiredOption('--base-url <url>', 'where the paths of the style begin, such as https://gpu.example.com')
    .option('--style <style>', `the shape that it speaks: ${styleNames.join(', ')}`, 'openai')
    .option('--key', 'it needs a key, which is asked for without an echo or read from standard input')
    .option('--title <text>', 'its name for people; the name if absent')
    .option('--allow-private', 'it may be in a private network, and its URL may begin with http://')
    .option(
      '--image-host <host>',
      'a host beside its own from which pictures come; may be repeated',
      collect,
      [],
    )
    .option(
      '--set <name=value>',
      'what differs from the style, such as seed=null; may be repeated',
      collect,
      [],
    )
    .option('--workflow <file>', 'the workflows of a ComfyUI, in API format, with their places')
    .run(async ({ services, output }, name: string, options: AddOptions) =>
      output.show(await addProvider(name, options, services)),
    );
  command
    .task('show <provider>', 'what you have configured of a provider; never its key')
    .run(async ({ services, output }, name: string) => output.show(await shown(name, services)));
}

async function addProvider(name: string, options: AddOptions, services: OperatorServices): Promise<Row> {
  const definition = await definitionOf(name, options);
  refuseUnreachable(definition, services);
  const { stored } = await readMerged(services);
  const others = (stored?.providers ?? []).filter((one) => one.name !== name);
  const key =
    definition.credential === 'key' ? await readSecret(`Key of ${definition.title}, not shown: `) : undefined;
  // A provider that is enabled before it has its key would get requests and refuse them.
  if (key !== undefined) await services.credentials.set(name, key);
  const next = await storeParts(stored, { providers: [...others, definition] }, services);
  await services.providers.enable(name);
  const isReplaced = stored?.providers.some((one) => one.name === name) === true;
  return { provider: name, enabled: true, replaced: isReplaced, revision: next.revision };
}

/** A name may lead elsewhere later, so its addresses are checked by each call. */
function refuseUnreachable(
  { baseUrl, network }: ProviderDefinition,
  { guarded: { privateNetworks } }: OperatorServices,
): void {
  const address = literalAddress(new URL(baseUrl));
  if (network === 'public' || address === undefined || isReachableInside(address, privateNetworks)) return;
  throw new OperatorError(
    `--base-url: ${address} is in no network of the service: start it with \`darkroom serve --allow-private ${address}\`, or with the network of the address.`,
  );
}

/** Throws OperatorError that names each wrong option. */
async function definitionOf(name: string, options: AddOptions): Promise<ProviderDefinition> {
  const parsed = providerDefinitionSchema.safeParse({
    name,
    title: options.title ?? name,
    style: options.style,
    baseUrl: options.baseUrl,
    credential: options.key === true ? 'key' : 'none',
    network: options.allowPrivate === true ? 'private' : 'public',
    imageHosts: options.imageHost,
    differences: differencesOf(options.set, options.style),
    ...(options.workflow !== undefined && { workflows: await workflowsOf(options.workflow) }),
  });
  if (parsed.success) return parsed.data;
  throw new FileProblems(
    parsed.error.issues.flatMap(({ path, ...issue }) => {
      const [member = '', ...inner] = path.map(String);
      const place = [optionNames[member] ?? member, ...inner].join(' ');
      return issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `${place} ${key}: no style has this name.`)
        : [`${place}: ${whatIsRight({ path, ...issue })}.`];
    }),
  );
}

/** The option for each member of the definition. */
const optionNames: Readonly<Record<string, string>> = {
  name: 'the name',
  title: '--title',
  style: '--style',
  baseUrl: '--base-url',
  imageHosts: '--image-host',
  differences: '--set',
  workflows: '--workflow',
};

/** Throws FileProblems that name each wrong field of the file. */
async function workflowsOf(file: string): Promise<Workflows> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    throw new OperatorError(`--workflow: ${file} cannot be read.`);
  }
  const read = readWorkflow(text);
  if (read.kind === 'read') return read.workflows;
  throw new FileProblems(read.problems.map(({ field, problem }) => `--workflow: ${field}: ${problem}.`));
}

/**
 * From lines such as size=tier, seed=null or fixed.watermark=false. A value that is JSON is taken as JSON, and
 * every other value as text.
 */
function differencesOf(lines: readonly string[], style: string): Record<string, unknown> {
  const differences: [string, unknown][] = [];
  const fixed: [string, unknown][] = [];
  for (const line of lines) {
    const [, name, value] = /^([^=]+)=(.*)$/su.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new OperatorError(`--set: ${JSON.stringify(line)} must have the form NAME=VALUE.`);
    const field = /^fixed\.(.+)$/u.exec(name)?.[1];
    if (field === undefined) differences.push([name, valueOf(value)]);
    else fixed.push([field, valueOf(value)]);
  }
  return Object.fromEntries([
    ...differences,
    ...(fixed.length > 0 ? [['fixed', { ...fixedOf(style), ...Object.fromEntries(fixed) }] as const] : []),
  ]);
}

/** The fields that every request of the style carries. A difference replaces them all. */
function fixedOf(style: string): Style['fixed'] {
  const name = compatibleStyleNames.find((one) => one === style);
  return name === undefined ? {} : styles[name].fixed;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The definition of the name. Throws OperatorError. */
async function configured(
  name: string,
  services: Pick<OperatorServices, 'operatorCatalog'>,
): Promise<ProviderDefinition | undefined> {
  return (await services.operatorCatalog.read())?.providers.find((one) => one.name === name);
}

async function shown(name: string, services: OperatorServices): Promise<Row> {
  const definition = await configured(name, services);
  if (!definition)
    throw new OperatorError(
      `You have configured no provider ${JSON.stringify(name)}: \`providers list\` shows all providers.`,
    );
  const [enabled, keys] = await Promise.all([services.providers.enabled(), services.credentials.names()]);
  const { name: provider, title, style, baseUrl, network, imageHosts, differences, workflows } = definition;
  return {
    provider,
    title,
    style,
    base_url: baseUrl,
    network,
    image_hosts: imageHosts,
    differences,
    ...(workflows && { workflows: Object.keys(workflows) }),
    key: definition.credential === 'none' ? 'none needed' : keys.includes(name) ? 'set' : 'missing',
    enabled: enabled.includes(name) ? 'yes' : 'no',
  };
}

// The accounts at the vendors whose callbacks are ours: `providers set --callback-account`, `providers callbacks`.

/**
 * What proves that a callback comes from our account at the vendor. 'account': the account that the operator names.
 * 'key': a secret of the account, which our key reads.
 */
const proofs: Readonly<Record<string, 'account' | 'key' | undefined>> = {
  fal: 'account',
  replicate: 'key',
} satisfies Partial<Record<ProviderName, 'account' | 'key'>>;

/** Printable ASCII without spaces, such as `github|1234567`. The documents of fal give no form. */
const accountForm = /^[\x21-\x7e]{3,200}$/;

/** @param text the value of --callback-account; empty or false: no account is named any more */
export async function setCallbackAccount(
  services: OperatorServices,
  name: string,
  text: string | false,
): Promise<Row> {
  if (proofs[name] !== 'account') throw new OperatorError(`--callback-account: ${whyNone(name)}`);
  const account = text === false || text === '' ? undefined : accountId(text);
  await services.credentials.setCallbackAccount(name, account);
  return { provider: name, callback_account: account ?? null };
}

function whyNone(name: string): string {
  return proofs[name] === 'key'
    ? `${name} needs no account, because its token proves the account: leave the option out.`
    : `${name} does not call back, so that its jobs are polled: leave the option out.`;
}

function accountId(text: string): string {
  const refuse = (why: string): never => {
    throw new OperatorError(
      `--callback-account: ${why}: give the user id, as the header X-Fal-Webhook-User-Id of one of your webhooks has it.`,
    );
  };
  // An error never repeats the value, because it may be a key.
  if (text.includes(':')) return refuse('this looks like a key or an address');
  if (text.includes('@')) return refuse('this looks like an e-mail address');
  return accountForm.test(text) ? text : refuse('a user id has 3 to 200 printable characters and no spaces');
}

/** Which vendors may call back, and what is missing. */
export async function callbackRows({ credentials, vendorAccess }: OperatorServices): Promise<Row[]> {
  const keys = await credentials.names();
  return Promise.all(
    Object.entries(proofs).map(async ([name, proof]) => {
      const account = await vendorAccess.credentials.read(callbackAccountOf(name));
      const missing = [
        ...(keys.includes(name) ? [] : ['key']),
        ...(proof === 'account' && account === undefined ? ['account'] : []),
      ];
      return {
        provider: name,
        verifiable: missing.length === 0 ? 'yes' : 'no',
        callback_account: proof === 'key' ? 'that of the key' : (account ?? null),
        missing,
      };
    }),
  );
}
