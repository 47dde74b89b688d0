/** The commands `models`, `balance`, `upload` and `events`. */
import { visibleJson, visibleText } from '../terminal/visible-text.ts';
import type { Balance, Event, Model } from '../../src/types/generated.ts';
import { imageFile } from '../image-files.ts';
import { checkedWord } from '../checked.ts';
import { wholeNumber } from '../options.ts';
import type { SessionCommand } from '../session.ts';

export function addAccountCommands(program: SessionCommand): void {
  program
    .task('models', 'the models of your account, what is available first, with the cheapest price of each')
    .run(async ({ io, options, output, client }) => {
      const listed = await (await client()).models.list({ signal: io.signal });
      const models = listed.toSorted((one, other) => Number(other.available) - Number(one.available));
      output.list(options.json === true ? models.map((one) => ({ ...one })) : models.map(modelRow), 'None.');
    });
  program
    .task('balance', 'what the account can spend, and what the key has spent')
    .option('--user <user>', 'also what the key has spent for this user of yours')
    .run(async ({ io, options, output, client }, { user }: { user?: string }) => {
      const balance = await (await client()).balance.get({ user, signal: io.signal });
      output.show(options.json === true ? { ...balance } : balanceRow(balance));
    });
  program
    .command('upload')
    .argument('<file>', 'a PNG, JPEG or WebP image')
    .description('upload a source image and print its entry for image_urls, valid for 24 hours')
    .run(async ({ io, options, client }, file: string) => {
      const { uploads } = await client();
      const uploaded = await uploads.create(await imageFile(io, file), { signal: io.signal });
      const image_url = checkedWord(uploaded, 'an entry for image_urls');
      io.out.write(`${options.json === true ? visibleJson({ image_url }) : image_url}\n`);
    });
  program
    .task('events', 'the events behind a cursor, the oldest first; without --after, only the cursor of now')
    .option('--after <cursor>', 'the next_cursor of an earlier answer')
    .option('--limit <number>', '1 to 100 events', wholeNumber(1, 100))
    .option('--wait <seconds>', 'wait so long for an event: 0 to 20', wholeNumber(0, 20))
    .option('--notices', 'the notices of the account as well')
    .run(async ({ io, options, output, client }, query: EventOptions) => {
      const { after, limit, wait, notices } = query;
      const page = await (
        await client()
      ).events.list(
        { after, limit, wait, ...(notices === true && { include: 'notices' }) },
        { signal: io.signal },
      );
      if (options.json === true) {
        output.show({ ...page });
      } else {
        output.list(page.data.map(eventRow), 'No events.');
        io.err.write(`next_cursor  ${visibleText(page.next_cursor)}\n`);
      }
    });
}

interface EventOptions {
  readonly after?: string;
  readonly limit?: number;
  readonly wait?: number;
  readonly notices?: boolean;
}

/** The key's amounts as fields of their own, without the caps that it does not have. */
function balanceRow({ key, ...account }: Balance): Record<string, unknown> {
  const ofKey = Object.entries(key).filter(([, value]) => value !== null);
  return { ...account, ...Object.fromEntries(ofKey.map(([name, value]) => [`key.${name}`, value])) };
}

function modelRow(model: Model): Record<string, unknown> {
  return {
    id: model.id,
    from_usd: model.pricing.length > 0 ? leastPrice(model) : null,
    resolutions: model.resolutions,
    images: model.supports_image_input ? model.max_image_urls : '-',
    available: model.available ? 'yes' : `no: ${model.unavailable_reason ?? ''}`,
    name: model.name,
  };
}

/** What the cheapest picture of a model costs, in USD. */
export function leastPrice({ pricing }: Model): number {
  return Math.min(...pricing.map(({ usd }) => usd));
}

function eventRow({ id, event, created_at, payload, redelivery_of }: Event): Record<string, unknown> {
  return { created_at, event, creation: payload.id, id, redelivery_of };
}
