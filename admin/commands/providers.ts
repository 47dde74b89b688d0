import type { Command } from 'commander';
import { checkVendor } from '../../adapters/providers/vendors.ts';
import { isEnabled, providers, type ProviderInfo, type ProviderName } from '../../core/providers.ts';
import { readCatalog } from '../catalog/catalog-files.ts';
import type { Admin } from '../admin.ts';
import { OperatorError } from '../operator-error.ts';
import type { Row } from '../../terminal/output.ts';
import { callbackRows, setCallbackAccount } from './callback-accounts.ts';
import { readSecret } from '../terminal/secret-input.ts';
import type { OperatorServices } from '../services.ts';

const names = Object.keys(providers).filter((name): name is ProviderName => Object.hasOwn(providers, name));
const checkMillis = 10_000;

export function addProviderCommands(program: Command, admin: Admin): void {
  const command = program
    .command('providers')
    .description('the image vendors: their keys, and which are enabled');
  command
    .command('list')
    .description('every provider that Darkroom knows, and what it still needs')
    .action(
      admin.run(async ({ services, output }) =>
        output.list(await providerRows(services), 'There are no providers.'),
      ),
    );
  command
    .command('set <provider>')
    .description('set its key, asked for without an echo or read from standard input, and enable it')
    .option(
      '--callback-account <id>',
      'set no key, but the account at the vendor whose callbacks count, such as your user id at fal; empty: none',
    )
    .option('--no-callback-account', 'no callbacks of this vendor count: its jobs are polled')
    .action(
      admin.run(
        async (
          { services, output },
          text: string,
          { callbackAccount }: { callbackAccount?: string | false },
        ) =>
          output.show(
            callbackAccount === undefined
              ? await setProvider(services, settable(text))
              : await setCallbackAccount(services, settable(text), callbackAccount),
          ),
      ),
    );
  command
    .command('remove <provider>')
    .description('disable it and remove its key: the next request is no longer routed to it')
    .action(
      admin.run(async ({ services, output }, text: string) => {
        const name = settable(text);
        await services.providers.disable(name);
        if (infoOf(name).credential === 'key') await services.credentials.remove(name);
        output.show({ provider: name, enabled: false });
      }),
    );
  command
    .command('callbacks')
    .description('the vendors that can call back when a job has ended, and what each still needs for it')
    .action(
      admin.run(async ({ services, output }) =>
        output.list(await callbackRows(services), 'No vendor can call back.'),
      ),
    );
  command
    .command('check [provider]')
    .description(
      'ask the vendor whether the key is good, by a call that costs nothing; exit code 1 when one is not, or there is none',
    )
    .action(
      admin.run(async ({ services, output, fail }, text?: string) => {
        const rows =
          text === undefined ? await checkEnabled(services) : [await checkOne(services, settable(text))];
        output.list(rows, 'No provider with a key is enabled: `providers set openai` sets one.');
        if (
          rows.length === 0 ||
          rows.some(({ verdict }) => verdict === 'refused' || verdict === 'unreachable')
        )
          fail();
      }),
    );
}

function infoOf(name: ProviderName): ProviderInfo {
  return providers[name];
}

/** A provider that needs a key or a role. Throws OperatorError for every other name. */
function settable(text: string): ProviderName {
  const known = names.filter((name) => infoOf(name).credential !== 'none');
  const name = known.find((one) => one === text);
  if (!name)
    throw new OperatorError(
      `There is no provider ${JSON.stringify(text)} with a key to set: known are ${known.join(', ')}.`,
    );
  return name;
}

async function setProvider(services: OperatorServices, name: ProviderName): Promise<Row> {
  const { title, credential, accessAt } = infoOf(name);
  if (credential === 'key')
    await services.credentials.set(
      name,
      await readSecret(`Key of ${title} (${accessAt ?? ''}), not shown: `),
    );
  // The key is set first. A provider that is enabled without a key would get requests and refuse them.
  await services.providers.enable(name);
  return { provider: name, enabled: true, models: modelsOf(name) };
}

function modelsOf(name: ProviderName): string[] {
  return readCatalog()
    .models.filter((model) => model.routes.some(({ provider }) => provider === name))
    .map(({ id }) => id);
}

async function providerRows(services: OperatorServices): Promise<Row[]> {
  const [enabled, keys] = await Promise.all([services.providers.enabled(), services.credentials.names()]);
  return names.map((name) => {
    const { title, credential, accessAt } = infoOf(name);
    const key = {
      none: 'none needed',
      role: "the function's role",
      key: keys.includes(name) ? 'set' : 'missing',
    }[credential];
    return {
      provider: name,
      title,
      key,
      enabled: isEnabled(name, enabled) ? 'yes' : 'no',
      models: modelsOf(name),
      access: accessAt ?? null,
    };
  });
}

async function checkEnabled(services: OperatorServices): Promise<Row[]> {
  const enabled = await services.providers.enabled();
  return Promise.all(names.filter((name) => enabled.includes(name)).map((name) => check(services, name)));
}

/** Throws OperatorError when the provider has no key. */
async function checkOne(services: OperatorServices, name: ProviderName): Promise<Row> {
  const isMissing = infoOf(name).credential === 'key' && !(await services.credentials.names()).includes(name);
  if (isMissing) throw new OperatorError(`${name} has no key: \`providers set ${name}\` sets it.`);
  return check(services, name);
}

async function check(services: OperatorServices, name: ProviderName): Promise<Row> {
  const began = services.clock.elapsed();
  const { verdict, detail } = await checkVendor(
    name,
    services.vendorAccess,
    AbortSignal.timeout(checkMillis),
  );
  return { provider: name, verdict, detail, ms: Math.round(services.clock.elapsed() - began) };
}
