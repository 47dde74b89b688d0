/** The command line of `darkroom serve`. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Command } from 'commander';
import { type TrustedProxies, trustedProxies } from '../../local/viewer.ts';
import { addVariable, numberOf, publicUrlOf, refuse } from '../options.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions extends Address {
  readonly data: string;
  readonly publicUrl?: string;
  readonly trusted: TrustedProxies;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly issuer?: { readonly url: string; readonly clientId: string };
  readonly metrics?: Address;
  readonly minFreeBytes: number;
  readonly env: Readonly<Record<string, string>>;
}

interface Given {
  readonly data: string;
  readonly listen: string;
  readonly publicUrl?: string;
  readonly trustProxy?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly metricsListen?: string;
  readonly minFree: string;
  readonly env: ServeOptions['env'];
}

/** Reads the options. A wrong value ends the process with one sentence and exit code 1. */
export function serveOptions(argv: readonly string[]): ServeOptions {
  const given = new Command('darkroom serve')
    .description('The whole of Darkroom on this machine, for others')
    .option('--data <folder>', 'where its state is kept', '.darkroom')
    .option('--listen <host:port>', 'where it listens', '127.0.0.1:8787')
    .option('--public-url <url>', 'the address of the service for clients, without a path')
    .option('--trust-proxy <networks>', 'proxies whose X-Forwarded-For counts, with commas: 10.0.0.0/8')
    .option('--tls-cert <file>', 'certificate and chain in PEM; without it a proxy speaks TLS')
    .option('--tls-key <file>', 'the key of the certificate in PEM')
    .option('--issuer <url>', 'the OpenID issuer at which people sign in; without it they sign in by links')
    .option('--client-id <id>', 'the id of this service at the issuer')
    .option('--metrics-listen <host:port>', 'where Prometheus reads /metrics; without it nowhere')
    .option('--min-free <mb>', 'below these free megabytes of the disk, new work is refused with 503', '256')
    .option('--env <NAME=VALUE>', 'another value for a variable that the functions declare', addVariable, {})
    .parse(argv)
    .opts<Given>();
  const address = addressOf('--listen', given.listen);
  if (given.publicUrl === undefined && !/^(127\.|::1$)/.test(address.host))
    refuse(
      '--listen',
      given.listen,
      'address of this machine alone: name the address for clients with --public-url.',
    );
  const publicUrl = given.publicUrl === undefined ? undefined : publicUrlOf(given.publicUrl);
  if (publicUrl !== undefined && new URL(publicUrl).origin !== publicUrl)
    refuse('--public-url', publicUrl, 'address without a path, such as https://pictures.example.com.');
  const networks = given.trustProxy?.split(',') ?? [];
  const trusted = trustedProxies(networks);
  const tls = pairOf('--tls-cert', given.tlsCert, '--tls-key', given.tlsKey);
  const issuer = pairOf('--issuer', given.issuer, '--client-id', given.clientId);
  if (issuer && !URL.canParse(issuer[0]))
    refuse('--issuer', issuer[0], 'address, such as https://id.example.com.');
  return {
    ...address,
    data: given.data,
    ...(publicUrl !== undefined && { publicUrl }),
    trusted:
      trusted ?? refuse('--trust-proxy', networks.join(','), 'list of networks, such as 127.0.0.1/32.'),
    ...(tls && { tls: { cert: contentOf('--tls-cert', tls[0]), key: contentOf('--tls-key', tls[1]) } }),
    ...(issuer && { issuer: { url: issuer[0], clientId: issuer[1] } }),
    ...(given.metricsListen !== undefined && { metrics: addressOf('--metrics-listen', given.metricsListen) }),
    minFreeBytes: numberOf('--min-free', given.minFree, 999_999_999) * 1024 * 1024,
    env: given.env,
  };
}

function addressOf(option: string, text: string): Address {
  const [, bare = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const host = bare.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 || Number(port) === 0 || Number(port) > 65_535)
    refuse(option, text, 'address and port, such as 0.0.0.0:8787.');
  return { host, port: Number(port) };
}

/** Two options that only make sense together. */
function pairOf(
  one: string,
  first: string | undefined,
  other: string,
  second: string | undefined,
): readonly [string, string] | undefined {
  if (first !== undefined && second !== undefined) return [first, second];
  if (first !== undefined) refuse(one, first, `use without ${other}.`);
  if (second !== undefined) refuse(other, second, `use without ${one}.`);
  return undefined;
}

function contentOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return refuse(option, file, 'file that can be read.');
  }
}
