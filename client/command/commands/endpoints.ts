/** The commands `endpoints list`, `create`, `update` and `delete`. */
import { Option } from 'commander';
import type { WebhookEndpoint, WebhookEndpointRequest } from '../../src/types/generated.ts';
import { CommandError } from '../complaint.ts';
import { list } from '../options.ts';
import type { SessionCommand } from '../session.ts';

type Events = WebhookEndpointRequest['events'];
const defaultEvents: Events = ['creation.completed', 'creation.failed'];

export function addEndpointCommands(program: SessionCommand): void {
  const endpoints = program.task('endpoints', 'the addresses that get your events and notices');
  endpoints.task('list', 'all of them, the oldest first').run(async ({ io, options, output, client }) => {
    const found = await (await client()).webhooks.endpoints.list({ signal: io.signal });
    output.list(options.json === true ? found.map((one) => ({ ...one })) : found.map(rowOf), 'No endpoints.');
  });
  withFields(endpoints.task('create <url>', `add one; it gets ${defaultEvents.join(' and ')}`)).run(
    async ({ io, output, client }, url: string, fields: Fields) => {
      const body = { url, events: defaultEvents, ...changeOf(fields) };
      output.show({ ...(await (await client()).webhooks.endpoints.create(body, { signal: io.signal })) });
    },
  );
  withFields(endpoints.task('update <id>', 'change what the options name'))
    .option('--url <url>', 'where the events go')
    .run(async ({ io, output, client }, id: string, fields: Fields) => {
      const change = changeOf(fields);
      if (Object.keys(change).length === 0)
        throw new CommandError('usage', 'Nothing would change.', 'Name an option: see --help.');
      output.show({
        ...(await (await client()).webhooks.endpoints.update(id, change, { signal: io.signal })),
      });
    });
  endpoints.task('delete <id>', 'it gets nothing more').run(async ({ io, output, client }, id: string) => {
    await (await client()).webhooks.endpoints.delete(id, { signal: io.signal });
    output.show({ id, deleted: true });
  });
}

function withFields(command: SessionCommand): SessionCommand {
  return command
    .option('--events <names>', 'these events and notices, with commas between them', list)
    .option('--description <text>', 'for people')
    .addOption(new Option('--off', 'it gets nothing').conflicts('on'))
    .option('--on', 'it gets what it asks for');
}

interface Fields {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly description?: string;
  readonly on?: boolean;
  readonly off?: boolean;
}

/** The service names the events that it does not know. */
function changeOf({ url, events, description, on, off }: Fields) {
  return {
    ...(url !== undefined && { url }),
    ...(events && { events: events as Events }),
    ...(description !== undefined && { description }),
    ...((on === true || off === true) && { enabled: on === true }),
  };
}

function rowOf({ id, url, description, events, enabled, disabled_reason }: WebhookEndpoint) {
  return { id, url, events, state: enabled ? 'on' : (disabled_reason ?? 'off'), description };
}
