/**
 * A run of the whole service uses every grant of the template, and without the grant a call of
 * the run is refused. So this test finds a grant that is not needed, and a missing grant with
 * its function, action and resource, before a deployment does.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AwsCall } from '../../local/aws/aws-call.ts';
import { createAuthorizer, neededGrants, type PolicyStatement } from '../../local/aws/iam.ts';
import { metrics } from '../../service/contract/metrics.ts';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { startTestService } from '../fixtures/service.ts';
import { settled, submit } from '../whole/workflow/creations.ts';
import { nameOf, resolved } from './template.ts';
import { recordCalls, wholeRun, type WholeRun } from './whole-run.ts';

interface Grant {
  readonly name: string;
  readonly role: string;
  readonly action: string;
  /** As the policy has it, wildcards included. */
  readonly resource: string;
}

/** Grants that no run on one machine uses, each with the reason. */
const unused: readonly { readonly grant: RegExp; readonly because: string }[] = [
  { grant: / logs:/, because: 'Lambda itself writes the log, under the role of the function' },
  {
    grant: /^RenderImage\w* bedrock:InvokeModel /,
    because: 'Amazon Bedrock is a vendor; nothing stands in for it here',
  },
  {
    grant: /^RenderImage\w* states:SendTaskHeartbeat /,
    because: 'A rendering of the run ends before its first heartbeat, which would take 20 s of real time',
  },
  {
    grant: /^(RenderImage\w*|ReceiveCallback) s3:DeleteObject /,
    because:
      'No client of the run deletes results while their thumbnails are made: delete-results.test.ts does',
  },
  {
    grant: /^Portal(Manage|Operate) cognito-idp:AdminCreateUser /,
    because: 'The user pool has no stand-in; people of this machine sign in at its own issuer',
  },
  {
    grant: /^(ProtectTable |PublishPages s3:(DeleteObject|ListBucket) )/,
    because: 'CloudFormation asks for it when it deploys or deletes a stack, and one machine does neither',
  },
];

const listed = (value: string | readonly string[] | undefined): readonly string[] => [value ?? []].flat();

const grants: readonly Grant[] = resolved.functions.flatMap(({ id, roleId: role }) =>
  (resolved.policies.get(role) ?? []).flatMap(({ Action, Resource }) =>
    listed(Action).flatMap((action) =>
      listed(Resource).map((resource) => ({ name: nameOf(id), role, action, resource })),
    ),
  ),
);
const textOf = ({ name, action, resource }: Grant): string => `${name} ${action} ${resource}`;
const expected = grants.filter((grant) => !unused.some((exception) => exception.grant.test(textOf(grant))));

/** Whether the grant allowed a use, which is written as `role action resource`. */
function allows({ role, action, resource }: Grant, use: string): boolean {
  const pattern = new RegExp(`^${resource.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`);
  const [usedRole, usedAction, usedResource = ''] = use.split(' ');
  return usedRole === role && usedAction === action && pattern.test(usedResource);
}

/** The policies of the template without one action on one resource of one function. */
function policiesWithout(removed: Grant): ReadonlyMap<string, readonly PolicyStatement[]> {
  const split = ({ Action, Resource, ...rest }: PolicyStatement): PolicyStatement[] =>
    listed(Action).flatMap((action) =>
      listed(Resource).map((resource) => ({ ...rest, Action: action, Resource: resource })),
    );
  const isOther = ({ Action, Resource }: PolicyStatement): boolean =>
    Action !== removed.action || Resource !== removed.resource;
  return new Map(
    [...resolved.policies].map(([role, statements]) => [
      role,
      role === removed.role ? statements.flatMap(split).filter(isOther) : statements,
    ]),
  );
}

/** The names of the metrics that CloudWatch would take out of a line. */
function metricsOf(line: string): string[] {
  const { _aws } = JSON.parse(line) as { _aws?: { CloudWatchMetrics: { Metrics: { Name: string }[] }[] } };
  return (_aws?.CloudWatchMetrics ?? []).flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name));
}

let run: WholeRun;
// Every function works in this run, and other tests may share the processors.
beforeAll(async () => {
  run = await wholeRun();
}, 400_000);

describe('a run of the whole service', () => {
  it('A run of the whole service is never refused a call to AWS', () => {
    expect(run.refused).toEqual([]);
  });

  it('A run of the whole service uses every grant of the template', () => {
    const never = expected.filter((grant) => ![...run.used].some((use) => allows(grant, use)));
    expect(
      never.map(textOf),
      'granted and never used: remove it from the stack, or say here why not',
    ).toEqual([]);
  });

  it('A run of the whole service uses none of the grants in the list of exceptions', () => {
    const excused = grants.filter((grant) => !expected.includes(grant));
    expect(excused.filter((grant) => [...run.used].some((use) => allows(grant, use))).map(textOf)).toEqual(
      [],
    );
  });

  it('A run of the whole service logs every metric but the three of a busy table', () => {
    const logged = new Set(run.log.flatMap(metricsOf));
    // canary.test.ts runs the canary, which the stack without settings does not have.
    const ofStack = metrics.filter(({ event }) => event !== 'canary_succeeded');
    const notLogged = ofStack.map(({ name }) => name).filter((name) => !logged.has(name));
    expect(notLogged.sort(), 'these three come of a busy table').toEqual([
      'ChargeConflicts',
      'RefundsBusy',
      'RequestsShed',
    ]);
  });
});

describe('a line of the log', () => {
  it.each(['creation_accepted', 'creation_failed', 'webhook_attempted'])(
    'Every line of the event %s names its request, account, creation or notice, and execution',
    (event) => {
      const lines = run.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['event'] === event);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines)
        for (const name of [
          'requestId',
          'accountId',
          'noticeId' in line ? 'noticeId' : 'creationId',
          'executionId',
        ])
          expect(line, event).toHaveProperty(name, expect.any(String));
    },
  );
});

describe('a grant that is missing', () => {
  // AWS judges HEAD of an absent object as ListBucket, which no request names.
  const listingOf = ({ role, resource }: Grant): AwsCall => ({
    service: 's3',
    operation: 'ListObjectsV2',
    caller: role,
    input: { Bucket: resource.replace('arn:aws:s3:::', '') },
  });

  it.each(expected.map((grant) => [textOf(grant), grant] as const))(
    'A call that misses the grant %s is refused with function, action and resource',
    (_text, grant) => {
      const needing = (call: AwsCall): boolean =>
        neededGrants(call).some(({ action, resource }) =>
          allows(grant, `${call.caller} ${action} ${resource}`),
        );
      const call = grant.action === 's3:ListBucket' ? listingOf(grant) : run.calls.find(needing);
      if (!call) throw new Error('no call of the run needs it');
      const needed = neededGrants(call).find(({ action, resource }) =>
        allows(grant, `${call.caller} ${action} ${resource}`),
      );
      expect(() => createAuthorizer(resolved.policies)(call)).not.toThrow();
      expect(() => createAuthorizer(policiesWithout(grant))(call)).toThrow(
        `assumed-role/${grant.role} is not authorized to perform: ${grant.action} on resource: ${needed?.resource ?? ''}`,
      );
    },
  );
});

describe('a template with one grant less', () => {
  const folders: string[] = [];
  afterAll(async () =>
    Promise.all(folders.map(async (folder) => rm(folder, { recursive: true, force: true }))),
  );

  interface Synthesized {
    readonly Resources: Record<
      string,
      {
        Metadata?: Record<string, unknown>;
        Properties?: { PolicyDocument?: { Statement: { Action: string | string[] }[] } };
      }
    >;
  }

  /** The template of this checkout, without the action in the named policy. */
  async function templateWithout(policy: string, action: string): Promise<string> {
    const path = await synthesizedTemplate();
    const template = JSON.parse(await readFile(path, 'utf8')) as Synthesized;
    for (const [id, { Metadata, Properties }] of Object.entries(template.Resources)) {
      const asset = Metadata?.['aws:asset:path'];
      if (Metadata && typeof asset === 'string') Metadata['aws:asset:path'] = resolve(dirname(path), asset);
      if (!id.startsWith(policy)) continue;
      for (const statement of Properties?.PolicyDocument?.Statement ?? [])
        statement.Action = [statement.Action].flat().filter((one) => one !== action);
    }
    const folder = await mkdtemp(join(tmpdir(), 'darkroom-grants-'));
    folders.push(folder);
    await writeFile(join(folder, 'Darkroom.template.json'), JSON.stringify(template));
    return join(folder, 'Darkroom.template.json');
  }

  it('A template with one grant less makes the service refuse the call: the creation is refunded and the message names the missing grant', async () => {
    const service = await startTestService({
      templatePath: await templateWithout('RenderImageSmallServiceRoleDefaultPolicy', 's3:PutObject'),
    });
    try {
      const { refused } = recordCalls(service);
      const { key } = await service.client();
      expect(await settled(service, await submit(service, key, { prompt: 'a lake' }))).toMatchObject({
        status: 'failed',
        failure: 'InternalFailure',
      });
      expect(refused).toEqual([
        expect.stringMatching(
          /assumed-role\/RenderImage\w+ is not authorized to perform: s3:PutObject on resource: arn:aws:s3:::\w+\/results\/.+ because no identity-based policy allows the s3:PutObject action$/,
        ),
      ]);
    } finally {
      await service.end();
    }
  });
});
