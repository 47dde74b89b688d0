import type { Command } from 'commander';
import { textProblem } from '../../service/values/text.ts';
import type { Row } from '../../client/command/terminal/output.ts';
import type { Admin } from '../admin.ts';
import { OperatorError } from '../operator-error.ts';
import type { OperatorServices } from '../services.ts';

const usualMessage =
  'The service is closed for maintenance. Nothing was charged: send the request again later.';

export function addServiceCommands(program: Command, admin: Admin): void {
  const service = program.command('service').description('close the service to new creations, and open it');
  service
    .command('close')
    .description('refuse every new creation with 503 and your message; everything else goes on')
    .option('--message <text>', 'what clients and the portal are told, 300 characters at most', usualMessage)
    .action(
      admin.run(async ({ services, output }, { message }: { message: string }) => {
        output.show(await close(services, message));
      }),
    );
  service
    .command('open')
    .description('accept new creations again')
    .action(
      admin.run(async ({ services, output }) => {
        const { closed } = await services.serviceSwitch.read();
        await services.serviceSwitch.open();
        output.show(await standing(services), closed ? undefined : 'The service was not closed.');
      }),
    );
  service
    .command('show')
    .description('whether the service is closed, and how many creations are open')
    .action(admin.run(async ({ services, output }) => output.show(await standing(services))));
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
