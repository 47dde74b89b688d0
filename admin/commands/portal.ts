import type { Command } from 'commander';
import type { Admin } from '../admin.ts';
import { originSecretSeconds } from '../origin-secret.ts';
import { readSecret } from '../terminal/secret-input.ts';

export function addPortalCommands(program: Command, admin: Admin): void {
  const portal = program.command('portal').description('the secrets of the client portal');
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
  portal
    .command('rotate-origin-secret')
    .description('replace the secret that the distribution sends to the API, and print what to deploy then')
    .action(
      admin.run(async ({ services, output }) => {
        const { version, isNew } = await services.rotateOriginSecret();
        const deployFrom = new Date(services.clock.now() + originSecretSeconds * 1_000).toISOString();
        output.show(
          { rotated: isNew, version, deploy_from: deployFrom },
          `${isNew ? '' : 'No new value was put: the newest one is not deployed yet. '}Set portal.originSecretVersion to '${version}' in the settings of the stage, and run \`npx cdk deploy\` from ${deployFrom} on. The portal stays open meanwhile.`,
        );
      }),
    );
}
