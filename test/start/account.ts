/** An account of AWS as the command cdk sees it during a first deployment: STS, SSM, S3 and CloudFormation. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Account {
  readonly url: string;
  /** The names of the objects in the bucket of assets, and their bytes. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** The calls that change something in CloudFormation. */
  readonly changes: readonly URLSearchParams[];
  readonly end: () => void;
}

type Answer = readonly [status: number, body: string];

const account = '123456789012';
const id = `arn:aws:cloudformation:eu-west-1:${account}:stack/Darkroom/1`;
const at = '2026-11-26T00:00:00Z';

/** The account is bootstrapped, and has no other stack. */
export async function startAccount(): Promise<Account> {
  const objects = new Map<string, Buffer>();
  const changes: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    void answerTo(request).then(([status, body]) => response.writeHead(status).end(body));
  });

  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://aws');
    const [, bucket = '', key = ''] = pathname.split('/');
    if (bucket !== '') return s3(request, key, searchParams.get('prefix') ?? '');
    const body = await text(request);
    // The version of the bootstrap stack.
    if (request.headers['x-amz-target'] !== undefined)
      return [200, JSON.stringify({ Parameter: { Name: 'version', Value: '30' } })];
    return query(new URLSearchParams(body));
  }

  async function s3(request: IncomingMessage, key: string, prefix: string): Promise<Answer> {
    if (request.method === 'PUT') {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      objects.set(key, Buffer.concat(chunks));
      return [200, ''];
    }
    const found = objects.has(prefix) ? `<Contents><Key>${prefix}</Key></Contents>` : '';
    return [200, `<ListBucketResult><KeyCount>${found === '' ? 0 : 1}</KeyCount>${found}</ListBucketResult>`];
  }

  function query(call: URLSearchParams): Answer {
    const action = call.get('Action') ?? '';
    const name = call.get('StackName') ?? '';
    if (/^(Create|Execute|Update|Delete)/.test(action)) changes.push(call);
    if (action === 'DescribeStacks') return stack(name);
    const answer = answers[action];
    if (answer === undefined) return refusal(`${action} is not imitated`);
    return result(action, typeof answer === 'string' ? answer : answer(call));
  }

  function stack(name: string): Answer {
    if (name === 'CDKToolkit') return result('DescribeStacks', stackOf(name, 'CREATE_COMPLETE'));
    const isDone = changes.some((call) => call.get('Action') === 'ExecuteChangeSet');
    if (!isDone) return refusal(`Stack with id ${name} does not exist`);
    return result('DescribeStacks', stackOf(name, 'CREATE_COMPLETE'));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    changes,
    end: () => server.close(),
  };
}

const answers: Readonly<Record<string, string | ((call: URLSearchParams) => string)>> = {
  GetCallerIdentity: `<Arn>arn:aws:iam::${account}:user/me</Arn><UserId>me</UserId><Account>${account}</Account>`,
  AssumeRole: (call) =>
    `<AssumedRoleUser><Arn>${call.get('RoleArn')}</Arn><AssumedRoleId>role</AssumedRoleId></AssumedRoleUser>` +
    '<Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>' +
    '<SessionToken>token</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>',
  CreateChangeSet: `<Id>change</Id><StackId>${id}</StackId>`,
  DescribeChangeSet:
    `<ChangeSetId>change</ChangeSetId><ChangeSetName>change</ChangeSetName><StackId>${id}</StackId>` +
    '<Status>CREATE_COMPLETE</Status><ExecutionStatus>AVAILABLE</ExecutionStatus><Changes><member><Type>Resource</Type></member></Changes>',
  UpdateTerminationProtection: `<StackId>${id}</StackId>`,
  ExecuteChangeSet: '',
  DescribeStackEvents: '<StackEvents/>',
};

function stackOf(name: string, status: string): string {
  const outputs =
    name === 'CDKToolkit'
      ? { BootstrapVersion: '30', BucketName: 'assets', BucketDomainName: 'assets.s3.amazonaws.com' }
      : { ApiUrl: 'https://api.example.com/api/public/v1' };
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return `<Stacks><member><StackName>${name}</StackName><StackId>${id}</StackId><CreationTime>${at}</CreationTime><StackStatus>${status}</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks>`;
}

function result(action: string, body: string): Answer {
  return [200, `<${action}Response><${action}Result>${body}</${action}Result></${action}Response>`];
}

function refusal(message: string): Answer {
  const error = `<Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message>`;
  return [400, `<ErrorResponse><Error>${error}</Error><RequestId>1</RequestId></ErrorResponse>`];
}
