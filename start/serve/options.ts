/** The options of `darkroom serve`: from the command line, from variables, and from a file. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Command } from 'commander';
import { isObject, parseJson } from '../../local/json.ts';
import { type TrustedProxies, trustedProxies } from '../../local/viewer.ts';
import { addVariable, numberOf, publicUrlOf, refuse } from '../options.ts';
import { type CertificateFiles, readCertificate } from './certificate.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions extends Address {
  readonly data: string;
  readonly publicUrl?: string;
  readonly trusted: TrustedProxies;
  readonly tls?: { readonly files: CertificateFiles; readonly pem: CertificateFiles };
  readonly issuer?: { readonly url: string; readonly clientId: string };
  readonly metrics?: Address;
  /** Networks in which an own provider may be, such as 10.0.0.0/8. */
  readonly privateNetworks: readonly string[];
  readonly minFreeBytes: number;
  readonly memoryMegabytes?: number;
  readonly env: Readonly<Record<string, string>>;
}

/** A value, and where it came from: an option, a variable, or a line of the file. */
interface Given {
  readonly text: string;
  readonly where: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Each has one value, but for the last two. */
const options = {
  data: ['<folder>', 'where its state is kept (.darkroom)'],
  listen: ['<host:port>', 'where it listens (127.0.0.1:8787)'],
  'public-url': ['<url>', 'the address of the service for clients, without a path'],
  'trust-proxy': ['<networks>', 'proxies whose X-Forwarded-For counts, with commas: 10.0.0.0/8'],
  'tls-cert': [
    '<file>',
    'certificate and chain in PEM; SIGHUP reads it again. Without it a proxy speaks TLS',
  ],
  'tls-key': ['<file>', 'the key of the certificate in PEM'],
  issuer: ['<url>', 'the OpenID issuer at which people sign in; without it they sign in by links'],
  'client-id': ['<id>', 'the id of this service at the issuer'],
  'metrics-listen': ['<host:port>', 'where Prometheus reads /metrics; without it nowhere'],
  'min-free': ['<mb>', 'below these free megabytes of the disk, new work is refused with 503 (256)'],
  memory: ['<size>', 'the memory that it should stay below, such as 512M or 2G'],
  'allow-private': ['<network>', 'where an own GPU may be, such as 10.0.0.0/8; any number of times'],
  env: ['<NAME=VALUE>', 'another value for a variable that the functions declare; any number of times'],
} as const;
type Name = keyof typeof options;
const names = Object.keys(options) as Name[];

/** Reads the options. A wrong value ends the process with one sentence and exit code 1. */
export function serveOptions(argv: readonly string[], environment: Environment = process.env): ServeOptions {
  const command = new Command('darkroom serve').description(
    'The whole of Darkroom on this machine, for others. Each option may also be a variable (DARKROOM_PUBLIC_URL), or a member of the JSON object in the file of --config ("public-url"); the command line wins over a variable, and a variable over the file.',
  );
  for (const name of names)
    command.option(
      `--${name} ${options[name][0]}`,
      options[name][1],
      (text, before: string[] | undefined) => [...(before ?? []), text],
    );
  command.option('--config <file>', 'a file with options');
  const typed = command.parse(argv).opts<Record<string, string[] & string>>();
  const file = typed['config'] ?? environment['DARKROOM_CONFIG'];
  const inFile = file === undefined ? {} : readFile(file);
  const allOf = (name: Name): readonly Given[] => {
    const onLine = typed[name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())];
    const variable = `DARKROOM_${name.replaceAll('-', '_').toUpperCase()}`;
    const inVariable = environment[variable];
    const from = (where: string, texts: readonly string[]): Given[] => texts.map((text) => ({ text, where }));
    if (onLine) return from(`--${name}`, onLine);
    if (inVariable !== undefined) return from(variable, inVariable.split('\n'));
    return from(`"${name}" in ${file ?? ''}`, inFile[name] ?? []);
  };
  const valueOf = (name: Name): Given | undefined => allOf(name).at(-1);
  return checked(valueOf, allOf);
}

function checked(
  valueOf: (name: Name) => Given | undefined,
  allOf: (name: Name) => readonly Given[],
): ServeOptions {
  const orDefault = (name: Name, text: string): Given => valueOf(name) ?? { text, where: `--${name}` };
  const listen = orDefault('listen', '127.0.0.1:8787');
  const address = addressOf(listen);
  const given = valueOf('public-url');
  if (!given && !/^(127\.|::1$)/.test(address.host))
    refuse(
      listen.where,
      listen.text,
      'address of this machine alone: name the address for clients with --public-url.',
    );
  const publicUrl = given && publicUrlOf(given.text, given.where);
  if (given && publicUrl !== undefined && new URL(publicUrl).origin !== publicUrl)
    refuse(given.where, publicUrl, 'address without a path, such as https://pictures.example.com.');
  const tls = pairOf(valueOf, 'tls-cert', 'tls-key');
  const issuer = pairOf(valueOf, 'issuer', 'client-id');
  if (issuer && !URL.canParse(issuer[0].text))
    refuse(issuer[0].where, issuer[0].text, 'address, such as https://id.example.com.');
  const metrics = valueOf('metrics-listen');
  const memory = valueOf('memory');
  const minFree = orDefault('min-free', '256');
  return {
    ...address,
    data: orDefault('data', '.darkroom').text,
    ...(publicUrl !== undefined && { publicUrl }),
    trusted: networksOf(valueOf('trust-proxy')),
    ...(tls && { tls: certificateOf(tls) }),
    ...(issuer && { issuer: { url: issuer[0].text, clientId: issuer[1].text } }),
    ...(metrics && { metrics: addressOf(metrics) }),
    privateNetworks: allOf('allow-private').flatMap(privateNetworksOf),
    minFreeBytes: numberOf('--min-free', minFree.text, 999_999_999, minFree.where) * 1024 * 1024,
    ...(memory && { memoryMegabytes: megabytesOf(memory) }),
    env: allOf('env').reduce((before, { text, where }) => addVariable(text, before, where), {}),
  };
}

/** The members of the file, each as a list of texts. */
function readFile(file: string): Partial<Record<string, readonly string[]>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return refuse('--config', file, 'file that can be read.');
  }
  const content = parseJson(text);
  if (!isObject(content)) return refuse('--config', file, 'file with an object in JSON.');
  return Object.fromEntries(
    Object.entries(content).map(([name, value]) => {
      if (!Object.hasOwn(options, name)) refuse(file, name, `option of darkroom serve: ${names.join(', ')}.`);
      const all =
        name === 'env' && isObject(value)
          ? Object.entries(value).map(([variable, one]) => `${variable}=${String(one)}`)
          : [value].flat();
      return [
        name,
        all.map((one) =>
          typeof one === 'string' || typeof one === 'number'
            ? String(one)
            : refuse(`"${name}" in ${file}`, JSON.stringify(one), 'text and no number.'),
        ),
      ];
    }),
  );
}

function addressOf({ text, where }: Given): Address {
  const [, bare = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const host = bare.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 || Number(port) === 0 || Number(port) > 65_535)
    refuse(where, text, 'address and port, such as 0.0.0.0:8787.');
  return { host, port: Number(port) };
}

function networksOf(given: Given | undefined): TrustedProxies {
  const networks = trustedProxies(given?.text.split(',') ?? []);
  return networks ?? refuse(given?.where ?? '', given?.text ?? '', 'list of networks, such as 127.0.0.1/32.');
}

/** A single address becomes the network that contains only this address. */
function privateNetworksOf(given: Given): string[] {
  networksOf(given);
  const lengthOf = (address: string): number => (isIP(address) === 6 ? 128 : 32);
  return given.text.split(',').map((one) => (one.includes('/') ? one : `${one}/${lengthOf(one)}`));
}

/** Two options that only make sense together. */
function pairOf(
  valueOf: (name: Name) => Given | undefined,
  one: Name,
  other: Name,
): readonly [Given, Given] | undefined {
  const [first, second] = [valueOf(one), valueOf(other)];
  if (first && second) return [first, second];
  if (first) refuse(first.where, first.text, `use without --${other}.`);
  if (second) refuse(second.where, second.text, `use without --${one}.`);
  return undefined;
}

function certificateOf([cert, key]: readonly [Given, Given]): NonNullable<ServeOptions['tls']> {
  const files = { cert: cert.text, key: key.text };
  try {
    return { files, pem: readCertificate(files, { cert: cert.where, key: key.where }) };
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

const leastMegabytes = 512;

function megabytesOf({ text, where }: Given): number {
  const [, number = '', unit = 'M'] = /^(\d{1,6})([MG])$/i.exec(text) ?? [];
  const megabytes = Number(number) * (unit.toUpperCase() === 'G' ? 1024 : 1);
  if (number === '' || megabytes < leastMegabytes)
    refuse(where, text, `size of at least ${leastMegabytes}M, such as 512M or 2G.`);
  return megabytes;
}
