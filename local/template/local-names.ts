import { localAccount, localRegion } from '../aws/aws-call.ts';
import { localSecretArn } from '../aws/secrets.ts';
import { isObject } from '../json.ts';

/** A resource of the template. Its intrinsic functions are not yet resolved. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly Condition?: string;
}

/** The local values that Ref (under `Ref`) and GetAtt give for a resource. */
export type LocalAttributes = Readonly<Record<string, string>>;

export const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': localAccount,
  'AWS::Region': localRegion,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': 'local',
  'AWS::StackId': `arn:aws:cloudformation:${localRegion}:${localAccount}:stack/local/local`,
};

/** The literal name that the template gives the resource, or undefined. */
type NameOf = (property: string) => string | undefined;

const arn = (service: string, rest: string): string =>
  `arn:aws:${service}:${localRegion}:${localAccount}:${rest}`;

/** Values of the template that are not in the template. */
export interface Surroundings {
  /** The local address of the HTTP API. GetAtt ApiEndpoint resolves to it. */
  readonly apiEndpoint: string;
  /** The number of a function's version. Both ids are logical ids. */
  readonly versionOf: (functionId: string, versionId: string) => string;
}

/** Stands for a value that only AWS generates. */
export const drawnElsewhere = 'drawn by AWS';

const nowhere: Surroundings = { apiEndpoint: '', versionOf: () => '1' };

/** Makes the values of a resource. `functionId` is the function to which a version or an alias belongs. */
type AttributesOf = (
  id: string,
  named: NameOf,
  surroundings: Surroundings,
  functionId: string,
) => LocalAttributes;

/** For each resource type, the names under which the stand-ins know a resource, made from its logical id. */
const attributesOfType: Readonly<Record<string, AttributesOf>> = {
  'AWS::DynamoDB::GlobalTable': tableAttributes,
  'AWS::DynamoDB::Table': tableAttributes,
  'AWS::Lambda::Function': (id) => ({ Ref: id, Arn: arn('lambda', `function:${id}`) }),
  'AWS::Lambda::Version': (id, _named, { versionOf }, functionId) => {
    const version = versionOf(functionId, id);
    const versionArn = `${arn('lambda', `function:${functionId}`)}:${version}`;
    return { Ref: versionArn, FunctionArn: versionArn, Version: version };
  },
  'AWS::Lambda::Alias': (_id, named, _surroundings, functionId) => {
    const aliasArn = `${arn('lambda', `function:${functionId}`)}:${named('Name') ?? ''}`;
    return { Ref: aliasArn, AliasArn: aliasArn };
  },
  'AWS::IAM::Role': (id) => ({ Ref: id, Arn: `arn:aws:iam::${localAccount}:role/${id}`, RoleId: id }),
  'AWS::StepFunctions::StateMachine': (id, named) => {
    const name = named('StateMachineName') ?? id;
    const machineArn = arn('states', `stateMachine:${name}`);
    return { Ref: machineArn, Arn: machineArn, Name: name };
  },
  'AWS::S3::Bucket': (id, named) => {
    const name = named('BucketName') ?? id.toLowerCase();
    return {
      Ref: name,
      Arn: `arn:aws:s3:::${name}`,
      DomainName: `${name}.s3.amazonaws.com`,
      RegionalDomainName: `${name}.s3.${localRegion}.amazonaws.com`,
    };
  },
  'AWS::SecretsManager::Secret': (id, named) => {
    const secretArn = localSecretArn(named('Name') ?? id);
    return { Ref: secretArn, Id: secretArn };
  },
  'AWS::Events::Rule': (id) => ({ Ref: id, Arn: arn('events', `rule/${id}`) }),
  'AWS::Scheduler::Schedule': (id) => ({ Ref: id, Arn: arn('scheduler', `schedule/default/${id}`) }),
  'AWS::SQS::Queue': (id) => ({
    Ref: `https://sqs.${localRegion}.amazonaws.com/${localAccount}/${id}`,
    Arn: arn('sqs', id),
    QueueName: id,
  }),
  'AWS::SNS::Topic': (id) => ({ Ref: arn('sns', id), TopicArn: arn('sns', id), TopicName: id }),
  'AWS::Logs::LogGroup': (id) => ({ Ref: id, Arn: arn('logs', `log-group:${id}:*`) }),
  'AWS::KMS::Key': (id) => ({ Ref: id, Arn: arn('kms', `key/${id}`), KeyId: id }),
  'AWS::ApiGatewayV2::Api': (id, _named, { apiEndpoint }) => ({
    Ref: id,
    ApiId: id,
    ApiEndpoint: apiEndpoint,
  }),
  'AWS::ApiGatewayV2::DomainName': (id, named) => ({
    Ref: named('DomainName') ?? id,
    RegionalDomainName: `${id.toLowerCase()}.execute-api.${localRegion}.amazonaws.com`,
    RegionalHostedZoneId: 'Z0',
  }),
  'AWS::ApiGateway::RestApi': (id) => ({ Ref: id, RestApiId: id, RootResourceId: `${id}/root` }),
  'AWS::ApiGateway::Stage': (id, named) => ({ Ref: named('StageName') ?? id }),
  'AWS::CloudFront::OriginAccessControl': withId,
  'AWS::CloudFront::CachePolicy': withId,
  'AWS::CloudFront::ResponseHeadersPolicy': withId,
  'AWS::CloudFront::OriginRequestPolicy': withId,
  'AWS::CloudFront::PublicKey': withId,
  'AWS::CloudFront::KeyGroup': withId,
  'Custom::ResultKeyPair': (id) => ({ Ref: id, PublicKey: drawnElsewhere }),
  'AWS::CloudFront::Function': (id) => ({ Ref: id, FunctionARN: id }),
  'AWS::Cognito::UserPool': (id, _named, { apiEndpoint }) => ({
    Ref: id,
    Arn: arn('cognito-idp', `userpool/${id}`),
    ProviderURL: `${apiEndpoint}/_local/issuer`,
  }),
  'AWS::Cognito::UserPoolClient': (id) => ({ Ref: id, ClientSecret: drawnElsewhere }),
  'AWS::CloudFront::Distribution': (id) => ({
    Ref: id,
    Id: id,
    DomainName: `${id.toLowerCase()}.cloudfront.net`,
  }),
};

function withId(id: string): LocalAttributes {
  return { Ref: id, Id: id };
}

function tableAttributes(id: string, named: NameOf): LocalAttributes {
  const name = named('TableName') ?? id;
  return {
    Ref: name,
    Arn: arn('dynamodb', `table/${name}`),
    StreamArn: arn('dynamodb', `table/${name}/stream/local`),
  };
}

/** The values that Ref and GetAtt give. Every resource has at least its logical id as Ref. */
export function localAttributes(
  id: string,
  resource: TemplateResource,
  surroundings: Surroundings = nowhere,
): LocalAttributes {
  const named: NameOf = (property) => {
    const name = resource.Properties?.[property];
    return typeof name === 'string' ? name : undefined;
  };
  const functionName = resource.Properties?.['FunctionName'];
  const functionId = isObject(functionName) ? String(functionName['Ref']) : '';
  return attributesOfType[resource.Type]?.(id, named, surroundings, functionId) ?? { Ref: id };
}

/** The logical id in a local function's or role's ARN. Undefined for any other text. */
export function idOfArn(kind: 'function' | 'role', text: string): string | undefined {
  const prefix = kind === 'function' ? arn('lambda', 'function:') : `arn:aws:iam::${localAccount}:role/`;
  const at = text.indexOf(prefix);
  // API Gateway's integrations have it inside another text: …/functions/<arn>/invocations.
  return at < 0
    ? undefined
    : text.slice(at + prefix.length).replace(/(:[\w$-]+)?(\/(response-streaming-)?invocations)?$/, '');
}
