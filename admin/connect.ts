/** Finds the service that a command is for: the local one of a folder, or a deployed stack. */
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { callLimits } from '../adapters/call-limits.ts';
import { systemClock } from '../adapters/system-clock.ts';
import type { Clock } from '../core/ports/runtime.ts';
import { runningService } from '../local/service-record.ts';
import { OperatorError } from './operator-error.ts';
import { addressOf, type ServiceAddress } from './service-address.ts';
import { operatorServices, type OperatorServices } from './services.ts';

export interface Target {
  readonly data: string;
  readonly stack?: string;
}

/** Throws OperatorError when there is no such service. */
export async function connect(target: Target): Promise<OperatorServices> {
  return target.stack === undefined ? connectLocal(target.data) : connectStack(target.stack);
}

interface LocalState {
  readonly offset_seconds: number;
  readonly environment: Readonly<Record<string, string>>;
}

async function connectLocal(folder: string): Promise<OperatorServices> {
  const service = await runningService(folder);
  const state = service && (await fetch(`${service.localUrl}/state`).catch(() => undefined));
  if (!service || !state?.ok) {
    throw new OperatorError(
      `No local service runs in ${folder}: start it with \`npm start\`, name its folder with --data, or a deployed stack with --stack.`,
    );
  }
  const { offset_seconds: offset, environment } = (await state.json()) as LocalState;
  const outboundRules = environment['OUTBOUND_RULES'] === 'loopback-too' ? 'loopback-too' : 'public';
  const providerBaseUrls = JSON.parse(
    environment['PROVIDER_BASE_URLS'] ?? '{}',
  ) as ServiceAddress['providerBaseUrls'];
  return operatorServices(
    { ...addressOf(outputOf(service.outputs)), outboundRules, providerBaseUrls, endpoint: service.awsUrl },
    shiftedClock(offset * 1000),
  );
}

/** The local service's clock can be set forward; what an operator writes carries its time. */
function shiftedClock(offsetMillis: number): Clock {
  return { ...systemClock, now: () => Date.now() + offsetMillis };
}

async function connectStack(stack: string): Promise<OperatorServices> {
  try {
    const answer = await new CloudFormationClient(callLimits()).send(
      new DescribeStacksCommand({ StackName: stack }),
    );
    const outputs = answer.Stacks?.[0]?.Outputs ?? [];
    const named = Object.fromEntries(
      outputs.map((output) => [output.OutputKey ?? '', output.OutputValue ?? '']),
    );
    return operatorServices(addressOf(outputOf(named)), systemClock);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `The stack ${stack} cannot be read (${why}). Check its name, the region and your AWS credentials.`,
      {},
      { cause: error },
    );
  }
}

function outputOf(outputs: Readonly<Record<string, string>>): (name: string) => string {
  return (name) => {
    const value = outputs[name];
    if (value === undefined)
      throw new OperatorError(
        `The stack has no output ${name}: it is none of Darkroom, or older than this command. Deploy it again.`,
      );
    return value;
  };
}
