/** A newly deployed stack: the stand-in of AWS in this process, and a CloudFormation that names its outputs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { addressOf, operatorServices, type OperatorServices } from '../../admin/services.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { type OneMachine, type OneMachineOptions, startOneMachine } from '../../local/one-machine.ts';
import { systemClock } from '../../service/aws/clock.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';

const adminEntry = fileURLToPath(new URL('../../bin/admin.ts', import.meta.url));

export interface StandInStack {
  readonly machine: OneMachine;
  readonly operator: OperatorServices;
  /** How often somebody allowed the stack to be deleted. */
  readonly unprotected: { readonly count: number };
  /** Runs the operator's command with `--stack Darkroom` in a process of its own. */
  readonly admin: (...words: readonly string[]) => AdminChild;
  readonly end: () => Promise<void>;
}

export interface AdminChild {
  readonly kill: () => void;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly complaint: string }>;
}

export async function startStack(
  folder: string,
  more: Partial<OneMachineOptions> = {},
): Promise<StandInStack> {
  const machine = await startOneMachine({
    templatePath: await synthesizedTemplate(),
    folder,
    environment: {
      OUTBOUND_RULES: 'loopback-too',
      PORTAL_ISSUER: '{origin}/_local/issuer',
      USER_POOL_ID: '',
      // They would change the record of a creation after its end, while a test compares two tables.
      THUMBNAILS: 'off',
    },
    verifyWebhook: () => Promise.resolve({ verified: false, detail: 'not looked at' }),
    ...more,
  });
  // The pool of users has no stand-in.
  const outputs: Readonly<Record<string, string>> = { ...machine.template.outputs, UserPoolId: '' };
  const unprotected = { count: 0 };
  const cloudFormation = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
    incoming.on('end', () => {
      if (body.includes('TerminationProtection=false')) unprotected.count += 1;
      outgoing.end(describeStacks(outputs));
    });
  });
  const port = await listenOnLoopback(cloudFormation);
  const environment = {
    ...process.env,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'operator',
    AWS_SECRET_ACCESS_KEY: machine.awsSecretKey,
    AWS_ENDPOINT_URL: machine.awsUrl,
    AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
  };
  return {
    machine,
    unprotected,
    operator: operatorServices(
      { ...addressOf((name) => outputs[name] ?? ''), endpoint: machine.awsUrl },
      { ...systemClock, now: () => machine.clock.now() },
    ),
    admin: (...words) => runAdmin(['--stack', 'Darkroom', '--json', ...words], environment),
    end: async () => {
      cloudFormation.close();
      await machine.stop();
    },
  };
}

/** Runs the operator's command in a process of its own. */
export function runAdmin(words: readonly string[], env: NodeJS.ProcessEnv = process.env): AdminChild {
  const child = spawn(process.execPath, [adminEntry, ...words], { env });
  let [out, complaint] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, complaint }));
  return { kill: () => child.kill('SIGKILL'), ended };
}

function describeStacks(outputs: Readonly<Record<string, string>>): string {
  const text = (value: string): string => value.replace(/[<>&"]/g, (one) => `&#${one.charCodeAt(0)};`);
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${text(value)}</OutputValue></member>`,
  );
  const stack = `<StackName>Darkroom</StackName><CreationTime>2026-11-26T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>`;
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>${stack}<Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
}
