import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { startOptions } from '../../start/options.ts';
import { eventObject, parseLogLine } from '../../start/until-stopped.ts';
import { embeddedMetrics } from '../../service/aws/log.ts';
import { readPage, root } from '../docs/pages.ts';
import { newFolder } from './machine-fixture.ts';

describe('npm start', () => {
  it("The command npm start prints the id of the demo account, which the operator's commands need, and the addresses of the OpenAI-shaped endpoint and of MCP", async () => {
    const folder = newFolder();
    const child = spawn(process.execPath, ['bin/local.ts', '--port', '0', '--data', folder], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exit = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exit;
    });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed += String(chunk);
    });
    await expect.poll(() => printed).toContain('Ctrl-C');
    const demo: unknown = JSON.parse(readFileSync(path.join(folder, 'demo.json'), 'utf8'));
    const { account } = z.object({ account: z.string() }).parse(demo);
    expect(printed).toMatch(new RegExp(`^ {2}account {2}${account} `, 'm'));
    const [, origin = ''] = /^ {2}API {6}(\S+)\/api\/public\/v1$/m.exec(printed) ?? [];
    expect(printed).toContain(`\n  OpenAI   ${origin}/openai/v1 `);
    expect(printed).toContain(`\n  MCP      ${origin}/mcp `);
  });

  it.each([
    ['https://pictures.example.com/', 'https://pictures.example.com'],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['https://example.com/darkroom/', 'https://example.com/darkroom'],
  ])('The option --public-url %s lets vendors call back at %s', (given, publicUrl) => {
    expect(startOptions(['node', 'start', '--public-url', given])).toMatchObject({ publicUrl });
  });

  it('Without the option --public-url no vendor is asked to call back', () => {
    expect(startOptions(['node', 'start'])).not.toHaveProperty('publicUrl');
  });

  /** What the command says with this option before it ends with the exit code. */
  function saidWith(option: string, code: number): string {
    let said = '';
    const hear = (text: unknown): boolean => (said += String(text)) !== '';
    const mocks = [
      vi.spyOn(console, 'error').mockImplementation(hear),
      vi.spyOn(process.stdout, 'write').mockImplementation(hear),
      vi.spyOn(process, 'exit').mockImplementation((given) => {
        throw new Error(`exit code ${given}`);
      }),
    ];
    try {
      expect(() => startOptions(['node', 'start', option])).toThrow(`exit code ${code}`);
      return said;
    } finally {
      for (const mock of mocks) mock.mockRestore();
    }
  }

  it('The command npm start has only options that docs/one-machine.md lists', () => {
    const options = [...saidWith('--help', 0).matchAll(/^ +(--[a-z-]+)/gm)].map(([, name = '']) => name);
    expect(options).toContain('--env');
    const page = readPage('docs/one-machine.md').text;
    expect(options.filter((name) => !page.includes(`| \`${name}`))).toEqual([]);
  });

  it.each([
    'pictures.example.com',
    'ftp://example.com',
    'https://a:b@example.com',
    'https://example.com?x=1',
  ])('The command npm start refuses the public address %s with one sentence', (given) => {
    expect(saidWith(`--public-url=${given}`, 1)).toBe(
      `--public-url: ${JSON.stringify(given)} is no address, such as https://pictures.example.com.`,
    );
  });

  it.each(['all', '-1', '1.5', ''])(
    'The command npm start refuses the floor %j with one sentence',
    (given) => {
      expect(saidWith(`--min-free=${given}`, 1)).toBe(
        `--min-free: ${JSON.stringify(given)} is no number of megabytes, such as 256; 0 takes new work until the disk is full.`,
      );
    },
  );
});

it('The metrics that CloudWatch takes out of a log line are left out of the printed event', () => {
  const fields = { creationId: '019aa5a0', failure: 'NothingRendered', refundedMicros: 40_000 };
  const logged = {
    at: '2026-11-21T12:00:00.000Z',
    level: 'info',
    component: 'refund-charge',
    event: 'creation_failed',
    ...fields,
  };
  const line = JSON.stringify({
    ...logged,
    ...embeddedMetrics('Darkroom', 0, { event: 'creation_failed', level: 'info', fields }),
  });
  expect(line).toContain('CreationsFailed');
  expect(parseLogLine(line)).toEqual(logged);
  expect(eventObject(parseLogLine(line) ?? {})).toEqual({
    event: 'failed',
    at: '2026-11-21T12:00:00.000Z',
    creation_id: '019aa5a0',
    failure: 'NothingRendered',
    refunded_micros: 40_000,
  });
});
