import type { Command } from 'commander';
import type { Admin } from '../admin.ts';
import { readSecret } from '../terminal/secret-input.ts';

export function addPortalCommands(program: Command, admin: Admin): void {
  const portal = program.command('portal').description('the sign-in of the client portal');
  portal
    .command('set-secret')
    .description(
      "set the portal's client secret at your issuer, asked for without an echo or read from standard input",
    )
    .action(
      admin.run(async ({ services, output }) => {
        await services.setSignInSecret(await readSecret('Client secret of the portal, not shown: '));
        output.show({ secret: 'set' }, 'Sign-ins use it within five minutes.');
      }),
    );
}
