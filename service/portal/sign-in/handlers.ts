/**
 * Signs people in and out, and does what concerns a person alone. This function alone redeems the issuer's code; no
 * token leaves it.
 */
import { type ApiHandler, framed, inTime } from '../../api/framed.ts';
import { signInMethods, signInPaths } from '../../contract/operations.ts';
import type { OpenServices } from '../../platform/common.ts';
import type { PortalAnswer } from '../http/caller.ts';
import { type PortalRequest, portalRequestOf } from '../http/portal-request.ts';
import { answerOf, refusal, toPortalGateway } from '../http/serve-portal.ts';
import { callback } from './callback.ts';
import { getEmails, setEmails } from './emails.ts';
import { login } from './login.ts';
import type { SignInServices } from './open.ts';
import { logout, switchAccount } from './session-end.ts';

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
        : answerOf('sign-in', { switchAccount, getEmails, setEmails }, request, services));
      return toPortalGateway(answer, request.requestId);
    },
    (problem, services, requestId) =>
      toPortalGateway(refusal(problem, [], services.settings.portalUrl), requestId),
    open,
  );
}
