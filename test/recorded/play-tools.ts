/** What an agent reads from the MCP endpoint: the server, each tool with its schemas, and answers of each tool. */
import type { CreationStore } from '../../service/creations/creation-store.ts';
import { stub } from '../api/fakes.ts';
import { aCompletedCreation, aCreation, creationId } from '../fixtures/records.ts';
import { mcpEvent, mcpStage, rpc, sendEvent } from '../mcp/mcp-fixture.ts';
import type { RecordedAnswer } from './recorded-answer.ts';

export const toolsFile = new URL('tools.json', import.meta.url);

const client = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'agent', version: '1' },
};
const called = (name: string, args: object = {}): object => rpc('tools/call', { name, arguments: args });
const image = { prompt: 'a lake', model: 'sandbox-standard' };
const wrong = { model: 7, prompt: '', id: 'x', limit: 0, status: 'x', resolution: '8K', count: 9 };
const names = [
  ...['list_models', 'quote_image', 'generate_image', 'get_creation', 'list_creations'],
  ...['cancel_creation', 'get_balance', 'no_tool'],
];

const messages: Readonly<Record<string, object>> = {
  'the server': rpc('server/discover'),
  'the server, to an older client': { jsonrpc: '2.0', id: 1, method: 'initialize', params: client },
  'the tools': rpc('tools/list'),
  'the tools, to an older client': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  'no method': rpc('prompts/list'),
  'the models': called('list_models'),
  'a quote': called('quote_image', image),
  'a quote with every field': called('quote_image', {
    ...{ ...image, aspect_ratio: '16:9', resolution: '2K', seed: 7, negative_prompt: 'people' },
    ...{ background: 'transparent', count: 2, max_cost: 5 },
  }),
  'a quote above the maximum': called('quote_image', { ...image, max_cost: 0.001 }),
  'an image': called('generate_image', { ...image, wait_seconds: 0 }),
  'an absent creation': called('get_creation', { id: creationId }),
  'the creations': called('list_creations', { limit: 2 }),
  'the failed creations': called('list_creations', { status: 'failed' }),
  'a cancel of an absent creation': called('cancel_creation', { id: creationId }),
  'the balance': called('get_balance'),
  ...Object.fromEntries(names.map((name) => [`${name} with wrong arguments`, called(name, wrong)])),
};

export async function playTools(): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = [];
  for (const [title, message] of Object.entries(messages)) {
    const creations = stub<CreationStore>({
      read: () => Promise.resolve(aCompletedCreation()),
      page: () => Promise.resolve({ creations: [aCompletedCreation(), aCreation()], next: creationId }),
    });
    const older = title.endsWith('an older client') && { 'MCP-Protocol-Version': client.protocolVersion };
    const event = mcpEvent(message, older ? { headers: older } : {});
    const { status, headers, body } = await sendEvent(mcpStage({ services: { creations } }), event);
    answers.push({ title, status, headers, body });
  }
  return answers;
}
