import { isIP } from 'node:net';
import { UpdateTerminationProtectionCommand } from '@aws-sdk/client-cloudformation';
import type { Row } from '../../client/command/terminal/output.ts';
import { clientAddress } from '../../service/outbound/client-address.ts';
import { textProblem } from '../../service/values/text.ts';
import type { OperatorCommand } from '../operator-command.ts';
import { OperatorError } from '../operator-error.ts';
import { originSecretSeconds } from '../origin-secret.ts';
import type { OperatorServices } from '../services.ts';
import { confirm, readSecret } from '../terminal/dialogue.ts';

const usualMessage =
  'The service is closed for maintenance. Nothing was charged: send the request again later.';

export function addServiceCommands(program: OperatorCommand): void {
  const service = program.task('service', 'close the service to new creations, and open it');
  service
    .task('close', 'refuse every new creation with 503 and your message; everything else goes on')
    .option('--message <text>', 'what clients and the portal are told, 300 characters at most', usualMessage)
    .run(async ({ services, output }, { message }: { message: string }) => {
      output.show(await close(services, message));
    });
  service.task('open', 'accept new creations again').run(async ({ services, output }) => {
    const { closed } = await services.serviceSwitch.read();
    await services.serviceSwitch.open();
    output.show(await standing(services), closed ? undefined : 'The service was not closed.');
  });
  service
    .task('show', 'whether the service is closed, and how many creations are open')
    .run(async ({ services, output }) => output.show(await standing(services)));
  service
    .task('unprotect', 'say what the deletion of the stack breaks, and allow CloudFormation to delete it')
    .option('--yes', 'do not ask')
    .run(async ({ services, output }, { yes = false }: { yes?: boolean }) => {
      const { deployed, raw, table, portalUrl, serviceSwitch } = services;
      if (!deployed) throw new OperatorError('--stack: name the stack: only a stack is protected.');
      const { openCreations } = await serviceSwitch.read();
      await confirm(
        `The deletion of the stack ends every address below ${raw.resultsBaseUrl} and ${portalUrl}, the API, ${openCreations} open creations and webhooks that are owed. The table ${table.name}, the bucket and the secrets stay.`,
        yes,
      );
      const off = { StackName: deployed.stack, EnableTerminationProtection: false };
      await deployed.cloudFormation.send(new UpdateTerminationProtectionCommand(off));
      output.show({ protected: false, open_creations: openCreations, table: table.name });
    });
}

/** A second close changes the message, and the service stays closed since the first one. */
async function close({ serviceSwitch, ...services }: OperatorServices, message: string): Promise<Row> {
  const problem = textProblem('closing', message);
  if (problem) throw new OperatorError(`--message: ${problem.message}.`);
  const { closed } = await serviceSwitch.read();
  const since = closed?.since ?? new Date(services.clock.now()).toISOString();
  await serviceSwitch.close({ message, since });
  return standing({ ...services, serviceSwitch });
}

async function standing({ serviceSwitch, serviceCapacity }: OperatorServices): Promise<Row> {
  const { closed, openCreations } = await serviceSwitch.read();
  return {
    closed: closed !== undefined,
    message: closed?.message ?? null,
    closed_since: closed?.since ?? null,
    open_creations: openCreations,
    capacity: serviceCapacity,
  };
}

export function addBlockCommands(program: OperatorCommand): void {
  const blocks = program.task('blocks', 'addresses that sent too many rejected authentications');
  blocks
    .task('show <address>', 'whether an address is blocked, and its rejections of this minute')
    .run(async ({ services, output }, text: string) => output.show(await blockOf(services, addressOf(text))));
  blocks
    .task('lift <address>', 'end the block of an address now; its count begins anew')
    .run(async ({ services, output }, text: string) => {
      const address = addressOf(text);
      const { block } = await services.blocks.read(address, services.clock.now());
      await services.blocks.lift(address, services.clock.now());
      const note = block ? undefined : 'The address was not blocked.';
      output.show({ ...(await blockOf(services, address)), lifted: block !== undefined }, note);
    });
}

/** The address by which the service counts. An IPv6 address counts as its /64, which the operator may name, too. */
function addressOf(text: string): string {
  const plain = text.trim().replace(/\/64$/, '');
  if (isIP(plain) === 0)
    throw new OperatorError(
      `${JSON.stringify(text)} is no IP address, such as 203.0.113.7 or 2001:db8:1:2::3.`,
    );
  return clientAddress(plain);
}

async function blockOf(services: OperatorServices, address: string): Promise<Row> {
  const { block, rejected } = await services.blocks.read(address, services.clock.now());
  return {
    address,
    blocked: block !== undefined,
    blocked_until: block ? new Date(block.untilMillis).toISOString() : null,
    closed_to_it: block ? { all: 'public API and portal API', public: 'public API' }[block.scope] : null,
    rejected_401: rejected['401'],
    rejected_403: rejected['403'],
  };
}

export function addPortalCommands(program: OperatorCommand): void {
  const portal = program.task('portal', 'the secrets of the client portal');
  portal
    .task(
      'set-secret',
      "set the portal's client secret at your issuer, asked for without an echo or read from standard input",
    )
    .run(async ({ services, output }) => {
      await services.setSignInSecret(await readSecret('Client secret of the portal, not shown: '));
      output.show({ secret: 'set' }, 'Sign-ins use it within five minutes.');
    });
  portal
    .task(
      'rotate-origin-secret',
      'replace the secret that the distribution sends to the API, and print what to deploy then',
    )
    .run(async ({ services, output }) => {
      const { version, isNew } = await services.rotateOriginSecret();
      const deployFrom = new Date(services.clock.now() + originSecretSeconds * 1_000).toISOString();
      output.show(
        { rotated: isNew, version, deploy_from: deployFrom },
        `${isNew ? '' : 'No new value was put: the newest one is not deployed yet. '}Set portal.originSecretVersion to '${version}' in the settings of the stage, and run \`npx cdk deploy\` from ${deployFrom} on. The portal stays open meanwhile.`,
      );
    });
}
