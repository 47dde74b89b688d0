/** Connects to the service of a command: the local service of a folder, or a deployed stack. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import { type BackupLine, type ReadyService, runningService } from '../local/service-record.ts';
import { callLimits } from '../service/aws/call-limits.ts';
import { systemClock } from '../service/aws/clock.ts';
import type { Clock } from '../service/values/runtime.ts';
import { OperatorError } from './operator-error.ts';
import { addressOf, operatorServices, type OperatorServices, type OwnedService } from './services.ts';
import { serviceOutputs } from './stack-outputs.ts';

export interface Target {
  readonly data: string;
  readonly stack?: string;
}

/** Throws OperatorError when the service does not run or the stack cannot be read. */
export async function connect(target: Target): Promise<OperatorServices> {
  return target.stack === undefined ? connectLocal(target.data) : connectStack(target.stack);
}

/** Undefined: no stack is named, and no local service runs. */
export async function connectIfRunning(target: Target): Promise<OperatorServices | undefined> {
  const isThere = target.stack !== undefined || (await runningService(target.data)) !== undefined;
  return isThere ? connect(target) : undefined;
}

const textsSchema = z.record(z.string(), z.string());
/** The members of /_local/state that a command needs. */
const stateSchema = z.object({ offset_seconds: z.number(), environment: textsSchema });

/** A service for others answers its owner only, who can read service.json. */
function ask({ localUrl, secret }: ReadyService, what: string, body?: object): Promise<Response> {
  return fetch(`${localUrl}/${what}`, {
    headers: { authorization: `Bearer ${secret}` },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
}

function ownedService(service: ReadyService): OwnedService {
  return {
    linkUrl: new URL('/portal/link', service.apiUrl).href,
    backup: async (to, tell, tablesOnly = false) => {
      const answer = await ask(service, 'backup', { to, tables_only: tablesOnly });
      try {
        for await (const text of createInterface({ input: Readable.from(answer.body ?? []) })) {
          const line = JSON.parse(text) as BackupLine;
          if ('made' in line) return line.made;
          if ('refused' in line) throw new OperatorError(`The backup was not made: ${line.refused}`);
          tell(line.copied);
        }
      } catch (error) {
        if (error instanceof OperatorError) throw error;
      }
      throw new OperatorError(`The service ended, and ${to} is no backup: delete this folder.`);
    },
  };
}

async function connectLocal(folder: string): Promise<OperatorServices> {
  const service = await runningService(folder);
  const state = service && (await ask(service, 'state').catch(() => undefined));
  if (!service || !state?.ok) {
    throw new OperatorError(
      `No local service runs in ${folder}: start it with \`npm start\`, name its folder with --data, or a deployed stack with --stack.`,
    );
  }
  const isForOthers = new URL(service.localUrl).origin !== new URL(service.apiUrl).origin;
  const { offset_seconds: offset, environment } = stateSchema.parse(await state.json());
  const outboundRules = environment['OUTBOUND_RULES'] === 'loopback-too' ? 'loopback-too' : 'public';
  const privateNetworks = environment['PRIVATE_NETWORKS']?.split(',').filter(Boolean);
  const providerBaseUrls = textsSchema.parse(JSON.parse(environment['PROVIDER_BASE_URLS'] ?? '{}'));
  const address = addressOf(outputOf(new Map(Object.entries(service.outputs))));
  const settings = environment['PAYMENT_SETTINGS']?.replaceAll('{origin}', new URL(service.apiUrl).origin);
  return operatorServices(
    {
      ...address,
      payments: { ...address.payments, ...(settings !== undefined && { settings }) },
      portalUrl: new URL('/portal/', service.apiUrl).href,
      outboundRules,
      providerBaseUrls,
      privateNetworks,
      endpoint: service.awsUrl,
      ...(service.awsSecretKey !== undefined && { secretKey: service.awsSecretKey }),
      ...(isForOthers && { owned: ownedService(service) }),
    },
    shiftedClock(offset * 1000),
  );
}

/**
 * The clock of a local service can be set forward. Everything that an operator writes must have the service's time.
 */
function shiftedClock(offsetMillis: number): Clock {
  return { ...systemClock, now: () => Date.now() + offsetMillis };
}

async function connectStack(stack: string): Promise<OperatorServices> {
  try {
    const cloudFormation = new CloudFormationClient(callLimits());
    const answer = await cloudFormation.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = serviceOutputs(answer.Stacks?.[0]?.Outputs ?? []);
    // The clients of the SDK read it, too. Requests to the bucket are signed without one.
    const {
      AWS_ENDPOINT_URL: bucketEndpoint,
      AWS_ENDPOINT_URL_CLOUDWATCH: monitoring = bucketEndpoint,
      AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: logs = bucketEndpoint,
    } = process.env;
    return operatorServices(
      {
        ...addressOf(outputOf(outputs)),
        deployed: { stack, cloudFormation, endpoints: { monitoring, logs } },
        ...(bucketEndpoint !== undefined && { bucketEndpoint }),
      },
      systemClock,
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError(
      `The stack ${stack} cannot be read (${why}). Check its name, the region and your AWS credentials.`,
      {},
      { cause: error },
    );
  }
}

function outputOf(outputs: ReadonlyMap<string, string>): (name: string) => string {
  return (name) => {
    const value = outputs.get(name);
    if (value === undefined)
      throw new OperatorError(
        `The stack has no output ${name}: it is none of Darkroom, or older than this command. Deploy it again.`,
      );
    return value;
  };
}
