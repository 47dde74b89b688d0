/** The part of the whole run in which the functions of the OpenAI-shaped endpoint do everything that they can do. */
import { expect } from 'vitest';
import { setNotices } from '../../service/notices/alert-settings.ts';
import type { Client, TestService } from '../fixtures/service.ts';
import { generations, type ToolResult } from '../mcp/clients.ts';
import { settled } from '../whole/workflow/creations.ts';

/** What the parts of the whole run share. */
export interface Shared {
  /** The address of a source image. */
  readonly source: string;
  /** `upload:ID` of an image in the bucket. */
  readonly upload: string;
  readonly isNotified: (client: Client) => Promise<void>;
}

export async function useOpenai(
  service: TestService,
  { key }: Client,
  { source, upload, isNotified }: Shared,
): Promise<void> {
  const { openaiUrl, inboxUrl } = service.machine;
  const call = async (
    path: string,
    body?: object,
    { as = key, headers = {}, status = 200 }: { as?: string; headers?: object; status?: number } = {},
  ): Promise<void> => {
    const answer = await fetch(`${openaiUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${as}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.status, `${path}: ${await answer.text()}`).toBe(status);
  };
  const picture = { model: 'sandbox-sketch', prompt: 'a lake' };
  const edit = { model: 'sandbox-pro', prompt: 'a lake' };
  await call('/models');
  const poor = await service.client({ balance: '0.001' });
  await setNotices(poor.account.id, { noticeUrl: inboxUrl }, service.operator);
  await Promise.all([
    // A vendor that calls back. Its job is polled, because its account is not pinned yet.
    call('/images/generations', { ...picture, model: 'flux-2-pro' }),
    call('/images/edits', { ...edit, images: [{ image_url: source }] }),
    call('/images/edits', { ...edit, images: [{ image_url: upload }] }),
    call('/images/generations', picture, { as: poor.key, status: 402 }),
    triedTwice(),
  ]);
  await isNotified(poor);

  /** The second try of a call finds the picture of the first. */
  async function triedTwice(): Promise<void> {
    for (const attempt of ['0', '1'])
      await call('/images/generations', picture, { headers: { 'x-stainless-retry-count': attempt } });
  }
}

/** The part of the whole run that goes through the tools of MCP: each of them, with all that it can do. */
export interface ToolsRun {
  /** An address that a request can name as a source image. */
  readonly source: string;
  /** An upload of the client. */
  readonly upload: string;
  /** Waits until the creation waits for its vendor. */
  readonly parked: (id: string) => Promise<void>;
}

/** The vendor must call back by now, or no creation of a tool would be parked. */
export async function useTools(
  service: TestService,
  client: Client,
  { source, upload, parked }: ToolsRun,
): Promise<void> {
  const call = await toolsOf(service, client);
  for (const name of ['list_models', 'get_balance', 'list_creations']) await call(name);
  const lake = { prompt: 'a lake', model: 'sandbox-pro', image_urls: [source, upload] };
  await call('quote_image', lake);
  const { id } = (await call('generate_image', lake)).structuredContent;
  const got = await call('get_creation', { id, wait_seconds: 30 });
  expect(got.content.map(({ type }) => type)).toContain('image');

  const waiting = await call('generate_image', { prompt: 'a lake', model: 'flux-2-pro', wait_seconds: 0 });
  const parkedId = String(waiting.structuredContent['id']);
  await parked(parkedId);
  const cancelled = await call('cancel_creation', { id: parkedId });
  expect(cancelled.structuredContent['status']).toBe('failed');
  await settled(service, parkedId);
  await useRefusal(service);
}

/** A call that is refused for its balance starts a notice. */
async function useRefusal(service: TestService): Promise<void> {
  const poor = await service.client({ balance: '0.001' });
  await setNotices(poor.account.id, { noticeUrl: service.machine.inboxUrl }, service.operator);
  const call = await toolsOf(service, poor, true);
  await call('generate_image', { prompt: 'a lake' });
}

async function toolsOf(
  { machine }: TestService,
  { key }: Client,
  isRefused?: true,
): Promise<(name: string, args?: Record<string, unknown>) => Promise<ToolResult>> {
  const mcp = await generations['the client of 2026']?.(new URL(machine.mcpUrl), key);
  return async (name, args = {}) => {
    const result = (await mcp?.callTool({ name, arguments: args })) as ToolResult;
    expect(result.isError, `${name}: ${result.content[0]?.text}`).toBe(isRefused);
    return result;
  };
}
