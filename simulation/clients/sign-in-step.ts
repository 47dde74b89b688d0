/** A person returns from the issuer. Without an answer, the person signs in again. */
import { claimsAt } from './addresses.ts';
import type { SignIn } from './scenario.ts';
import type { Stage } from './stage.ts';

export async function signIn(step: SignIn, { world, service, accountOf }: Stage): Promise<void> {
  const claims = claimsAt(accountOf(step).id, step.address, step.who);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const entered = await service.signIn(claims);
    world.note(`sign-in ${step.name}, try ${attempt}: ${entered ?? 'no answer'}`);
    if (entered !== undefined) return;
    await world.sleep(world.dice.between(`${step.name} again ${attempt}`, 500, 4_000));
  }
}
