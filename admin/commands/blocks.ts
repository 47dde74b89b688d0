import { isIP } from 'node:net';
import type { Command } from 'commander';
import { clientAddress } from '../../service/outbound/client-address.ts';
import type { Admin } from '../admin.ts';
import { OperatorError } from '../operator-error.ts';
import type { Row } from '../../client/command/terminal/output.ts';
import type { OperatorServices } from '../services.ts';

export function addBlockCommands(program: Command, admin: Admin): void {
  const blocks = program
    .command('blocks')
    .description('addresses that sent too many rejected authentications');
  blocks
    .command('show <address>')
    .description('whether an address is blocked, and its rejections of this minute')
    .action(
      admin.run(async ({ services, output }, text: string) =>
        output.show(await standing(services, addressOf(text))),
      ),
    );
  blocks
    .command('lift <address>')
    .description('end the block of an address now; its count begins anew')
    .action(
      admin.run(async ({ services, output }, text: string) => {
        const address = addressOf(text);
        const { block } = await services.blocks.read(address, services.clock.now());
        await services.blocks.lift(address, services.clock.now());
        const note = block ? undefined : 'The address was not blocked.';
        output.show({ ...(await standing(services, address)), lifted: block !== undefined }, note);
      }),
    );
}

/**
 * The address by which the service counts. An IPv6 address counts as its /64, which the operator may name,
 * too.
 */
function addressOf(text: string): string {
  const plain = text.trim().replace(/\/64$/, '');
  if (isIP(plain) === 0)
    throw new OperatorError(
      `${JSON.stringify(text)} is no IP address, such as 203.0.113.7 or 2001:db8:1:2::3.`,
    );
  return clientAddress(plain);
}

async function standing(services: OperatorServices, address: string): Promise<Row> {
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
