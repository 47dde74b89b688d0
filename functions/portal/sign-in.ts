/**
 * Signs people in and out. The browser goes to the issuer and comes back with a code, which this function alone
 * redeems. No token of the issuer leaves the function.
 */
import { signInMethods, signInPaths } from '../../core/contract.ts';
import { framed, inTime, type ApiHandler } from '../http/framed.ts';
import { atFirstRequest, type OpenServices } from '../services/open.ts';
import { openSignIn, type SignInServices } from '../services/portal-sign-in.ts';
import { base, dynamodb, originSecrets, secrets } from '../services/lambda.ts';
import type { PortalAnswer } from './http/caller.ts';
import { portalRequestOf, type PortalRequest } from './http/portal-request.ts';
import { answerOf, refusal, toPortalGateway } from './http/serve-portal.ts';
import { callback } from './sign-in/callback.ts';
import { login } from './sign-in/login.ts';
import { logout } from './sign-in/logout.ts';
import { switchAccount } from './sign-in/switch-account.ts';

type Step = (request: PortalRequest, services: SignInServices) => Promise<PortalAnswer>;

const steps: Readonly<Record<keyof typeof signInPaths, Step>> = { login, callback, logout };

function stepAt(routeKey: string): Step | undefined {
  const names = Object.keys(steps) as (keyof typeof steps)[];
  const name = names.find((one) => routeKey === `${signInMethods[one]} ${signInPaths[one]}`);
  return name && steps[name];
}

export function serveSignIn(open: OpenServices<SignInServices>): ApiHandler {
  return framed(
    async (event, services) => {
      const request = await portalRequestOf(event, services);
      const step = stepAt(request.routeKey);
      const answer = await (step
        ? inTime(step(request, services), services)
        : answerOf('sign-in', { switchAccount }, request, services));
      return toPortalGateway(answer, request.requestId);
    },
    (problem, services, requestId) =>
      toPortalGateway(refusal(problem, [], services.settings.portalUrl), requestId),
    open,
  );
}

export const handler = serveSignIn(
  atFirstRequest(() =>
    openSignIn({ ...base(), dynamodb: dynamodb(), originSecrets: originSecrets(), secrets: secrets() }),
  ),
);
