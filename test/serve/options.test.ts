import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { serveOptions } from '../../start/serve/options.ts';
import { newFolder } from '../local/machine-fixture.ts';

function fileOf(content: unknown): string {
  const file = join(newFolder(), 'serve.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const argv = (...words: string[]): string[] => ['node', 'serve', ...words];

/** What a person reads of a wrong option, and the exit code. */
function refusal(words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const program = fileURLToPath(new URL('../../bin/systemd.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect(status, stderr).toBe(1);
  return stderr;
}

const everywhere = {
  data: '/var/lib/darkroom',
  listen: '0.0.0.0:8787',
  'public-url': 'https://pictures.example.com',
  'trust-proxy': '10.0.0.0/8',
  issuer: 'https://id.example.com',
  'client-id': 'darkroom',
  'metrics-listen': '127.0.0.1:9090',
  'min-free': '512',
  memory: '2G',
  'allow-private': '10.1.0.0/16,192.168.1.7',
  env: 'AUTH_FAILURE_FORM=plain',
};

describe('the options of serve', () => {
  it('may come from the command line, from variables, and from a file', () => {
    const words = Object.entries(everywhere).flatMap(([name, value]) => [`--${name}`, value]);
    const variables = Object.fromEntries(
      Object.entries(everywhere).map(([name, value]) => [
        `DARKROOM_${name.replaceAll('-', '_').toUpperCase()}`,
        value,
      ]),
    );
    const typed = serveOptions(argv(...words), {});
    expect(typed).toMatchObject({
      ...{ host: '0.0.0.0', port: 8787, data: '/var/lib/darkroom', memoryMegabytes: 2_048 },
      privateNetworks: ['10.1.0.0/16', '192.168.1.7/32'],
      env: { AUTH_FAILURE_FORM: 'plain' },
    });
    expect(serveOptions(argv(), variables)).toEqual(typed);
    expect(serveOptions(argv('--config', fileOf(everywhere)), {})).toEqual(typed);
    expect(serveOptions(argv(), { DARKROOM_CONFIG: fileOf(everywhere) })).toEqual(typed);
  });

  it('have an order: the command line, a variable, the file', () => {
    const file = fileOf({ data: 'of the file', 'min-free': 1, issuer: 'https://id.test', 'client-id': 'x' });
    const environment = { DARKROOM_DATA: 'of the variable', DARKROOM_MIN_FREE: '2' };
    expect(serveOptions(argv('--config', file, '--min-free', '3'), environment)).toMatchObject({
      data: 'of the variable',
      minFreeBytes: 3 * 1024 * 1024,
      issuer: { url: 'https://id.test' },
    });
  });

  it('that repeat are lists in the file, and lines in a variable', () => {
    const lists = {
      'allow-private': ['10.0.0.0/8', 'fd00::/8'],
      env: { SANDBOX: 'off', AUTH_FAILURE_FORM: 'a=b' },
    };
    const expected = { privateNetworks: ['10.0.0.0/8', 'fd00::/8'], env: lists.env };
    expect(serveOptions(argv('--config', fileOf(lists)), {})).toMatchObject(expected);
    const variables = {
      DARKROOM_ALLOW_PRIVATE: '10.0.0.0/8\nfd00::/8',
      DARKROOM_ENV: 'SANDBOX=off\nAUTH_FAILURE_FORM=a=b',
    };
    expect(serveOptions(argv(), variables)).toMatchObject(expected);
  });
});

describe('a wrong value', () => {
  it('is refused with one sentence that names where the value came from', () => {
    const what = 'is no address and port, such as 0.0.0.0:8787.\n';
    expect(refusal(['--listen', 'here'])).toBe(`--listen: "here" ${what}`);
    expect(refusal([], { DARKROOM_LISTEN: 'here' })).toBe(`DARKROOM_LISTEN: "here" ${what}`);
    const file = fileOf({ listen: 'here' });
    expect(refusal(['--config', file])).toBe(`"listen" in ${file}: "here" ${what}`);
    expect(refusal([], { DARKROOM_MEMORY: '12' })).toBe(
      'DARKROOM_MEMORY: "12" is no size of at least 512M, such as 512M or 2G.\n',
    );
    expect(refusal([], { DARKROOM_TLS_KEY: 'key.pem' })).toBe(
      'DARKROOM_TLS_KEY: "key.pem" is no use without --tls-cert.\n',
    );
    expect(refusal([], { DARKROOM_TLS_KEY: 'key.pem', DARKROOM_TLS_CERT: 'cert.pem' })).toMatch(
      /^DARKROOM_TLS_CERT: "cert\.pem" is no file that can be read \(ENOENT.*\)\.\n$/,
    );
    expect(refusal(['--allow-private', '10.0.0.0/40'])).toBe(
      '--allow-private: "10.0.0.0/40" is no list of networks, such as 127.0.0.1/32.\n',
    );
  });

  it('in the file itself names the file', () => {
    const [text, unknown, nested] = [fileOf('{'), fileOf({ listne: '' }), fileOf({ data: {} })];
    expect(refusal(['--config', text])).toBe(`--config: "${text}" is no file with an object in JSON.\n`);
    expect(refusal(['--config', '/no/file'])).toBe('--config: "/no/file" is no file that can be read.\n');
    expect(refusal(['--config', unknown])).toMatch(/^\S+: "listne" is no option of darkroom serve: data, /);
    expect(refusal(['--config', nested])).toBe(`"data" in ${nested}: "{}" is no text and no number.\n`);
  });
});
