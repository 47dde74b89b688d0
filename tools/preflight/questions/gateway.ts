import { GetAccountCommand } from '@aws-sdk/client-api-gateway';
import { needsOf } from '../../quotas/quotas.ts';
import { askAws } from '../ask-aws.ts';
import { compared, type Finding, type Question } from '../finding.ts';

const raise = 'ask AWS for more (Service Quotas, Amazon API Gateway, "Throttle rate")';

/** The requests that API Gateway takes, and the role by which it writes the logs of REST APIs. */
export const gateway: Question = {
  title: 'API Gateway: account',
  async ask({ settings, traffic, stack, clients }) {
    const answer = await askAws('apigateway:GET on /account', () =>
      clients.gateway.send(new GetAccountCommand({})),
    );
    const { status } = await stack();
    const { rateLimit = 0, burstLimit = 0 } = answer.throttleSettings ?? {};
    const wanted = needsOf(traffic);
    return [
      compared('API Gateway: requests a second', rateLimit, wanted.gatewayRequestsPerSecond, raise),
      belowAccount(settings.throttling, rateLimit, burstLimit),
      logRole(settings.gatewayLogRole, answer.cloudwatchRoleArn, status !== undefined),
    ];
  },
};

/** API Gateway takes a stage's throttle above that of the account, and never reaches it. */
function belowAccount(
  { ratePerSecond, burst }: { readonly ratePerSecond: number; readonly burst: number },
  rateLimit: number,
  burstLimit: number,
): Finding {
  const fits = ratePerSecond <= rateLimit && burst <= burstLimit;
  return {
    question: 'Setting throttling, against the account',
    level: fits ? 'ok' : 'limits',
    found: `${ratePerSecond} a second, burst ${burst}`,
    wanted: `at most ${rateLimit} a second, burst ${burstLimit}`,
    ...(!fits && { fix: `${raise}, or lower the setting` }),
  };
}

function logRole(setting: 'create' | 'existing', role: string | undefined, isDeployed: boolean): Finding {
  const question = "API Gateway: the account's role for logs";
  const found = role === undefined || role === '' ? 'none' : role;
  if (setting === 'existing')
    return {
      question,
      level: found === 'none' ? 'stops' : 'ok',
      found,
      wanted: "a role, because of gatewayLogRole: 'existing'",
      ...(found === 'none' && { fix: "gatewayLogRole: 'create'" }),
    };
  const replaces = found !== 'none' && !isDeployed;
  return {
    question,
    level: replaces ? 'note' : 'ok',
    found,
    wanted: "none, because of gatewayLogRole: 'create'",
    ...(replaces && { fix: "gatewayLogRole: 'existing' keeps this role; 'create' replaces it" }),
  };
}
