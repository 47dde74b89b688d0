import type * as z from 'zod';
import { isObject } from '../json.ts';
import {
  idOfArn,
  localAttributes,
  pseudoParameters,
  type Surroundings,
  type TemplateResource,
} from './local-names.ts';

export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Condition?: string }>>;
}

/** Resolves the intrinsic functions of one template to local values. */
interface Resolver {
  /** The value without intrinsic functions. Throws an Error that names what is not known. */
  readonly resolve: (value: unknown) => unknown;
  /** Whether a condition of the template holds. No condition always holds. */
  readonly holds: (condition: string | undefined) => boolean;
}

/** The value that Ref or GetAtt gives for a logical id. */
type LookUp = (id: string, attribute: string) => unknown;

type Intrinsic = (argument: unknown, resolve: Resolver['resolve']) => unknown;

function createResolver(template: Template, surroundings: Surroundings): Resolver {
  const look = lookUp(template, surroundings);
  const holds = (condition: string | undefined): boolean =>
    condition === undefined || resolve(template.Conditions?.[condition] ?? false) === true;
  const intrinsics: Readonly<Record<string, Intrinsic>> = {
    ...textFunctions,
    ...conditionFunctions,
    ...templateFunctions(template, look, holds),
  };

  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve).filter((item) => item !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [name, argument] = entries[0] ?? [''];
    if (entries.length === 1 && (name === 'Ref' || name === 'Condition' || name.startsWith('Fn::'))) {
      const intrinsic = intrinsics[name];
      // The Condition of a policy statement is an ordinary object and not an intrinsic function.
      if (intrinsic !== undefined && (name !== 'Condition' || typeof argument === 'string'))
        return intrinsic(argument, resolve);
      if (name.startsWith('Fn::')) throw new Error(`the intrinsic function ${name} is not supported`);
    }
    return Object.fromEntries(
      entries.map(([key, item]) => [key, resolve(item)]).filter(([, item]) => item !== undefined),
    );
  }
  return { resolve, holds };
}

function templateFunctions(
  template: Template,
  look: LookUp,
  holds: Resolver['holds'],
): Readonly<Record<string, Intrinsic>> {
  return {
    Ref: (id) => look(asText(id), 'Ref'),
    Condition: (name) => holds(asText(name)),
    'Fn::GetAtt': (target) => {
      const [id = '', ...attribute] =
        typeof target === 'string' ? target.split('.') : asList(target).map(asText);
      return look(id, attribute.join('.'));
    },
    'Fn::Sub': (argument, resolve) => {
      const [first, second] = Array.isArray(argument) ? asList(argument) : [argument];
      const text = asText(first);
      const variables = isObject(second) ? second : {};
      return text
        .replace(/\$\{([^!}]+)\}/g, (_match, name: string) => {
          if (name in variables) return asText(resolve(variables[name]));
          const [id = '', ...attribute] = name.split('.');
          return asText(look(id, attribute.length === 0 ? 'Ref' : attribute.join('.')));
        })
        .replaceAll('${!', '${');
    },
    'Fn::If': (argument, resolve) => {
      const [condition, whenTrue, whenFalse] = asList(argument);
      return resolve(holds(asText(condition)) ? whenTrue : whenFalse);
    },
    'Fn::FindInMap': (argument, resolve) => {
      const [map = '', first = '', second = ''] = asList(resolve(argument)).map(asText);
      const found = template.Mappings?.[map]?.[first]?.[second];
      if (found === undefined) throw new Error(`the template maps nothing under ${map}.${first}.${second}`);
      return found;
    },
  };
}

const textFunctions: Readonly<Record<string, Intrinsic>> = {
  'Fn::Join': (argument, resolve) => {
    const [delimiter, parts] = asList(argument);
    return asList(resolve(parts)).map(asText).join(asText(delimiter));
  },
  'Fn::Select': (argument, resolve) => {
    const [index, list] = asList(argument);
    return asList(resolve(list))[Number(resolve(index))];
  },
  'Fn::Split': (argument, resolve) => {
    const [delimiter, text] = asList(argument);
    return asText(resolve(text)).split(asText(delimiter));
  },
};

const conditionFunctions: Readonly<Record<string, Intrinsic>> = {
  'Fn::Equals': (argument, resolve) => {
    const [left, right] = asList(resolve(argument));
    return left === right;
  },
  'Fn::Not': (argument, resolve) => asList(resolve(argument))[0] !== true,
  'Fn::And': (argument, resolve) => asList(resolve(argument)).every((one) => one === true),
  'Fn::Or': (argument, resolve) => asList(resolve(argument)).includes(true),
};

function lookUp(template: Template, surroundings: Surroundings): LookUp {
  return (id, attribute) => {
    if (id === 'AWS::NoValue') return undefined;
    const pseudo = pseudoParameters[id];
    if (pseudo !== undefined) return pseudo;
    const resource = template.Resources[id];
    if (resource === undefined) {
      const parameter = template.Parameters?.[id];
      if (parameter?.Default === undefined)
        throw new Error(`${id} is neither a resource nor a parameter with a default`);
      return parameter.Default;
    }
    const value = localAttributes(id, resource, surroundings)[attribute];
    if (value === undefined) throw new Error(`${resource.Type} ${id} has no local attribute ${attribute}`);
    return value;
  };
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`expected a list, found ${JSON.stringify(value)}`);
  return value;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(`expected text, found ${JSON.stringify(value)}`);
}

/** A resource whose properties are resolved and match a schema. */
export interface Resource<Properties> {
  readonly id: string;
  readonly properties: Properties;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly unsupported: (what: string) => Error;
  /** The id of the function whose ARN is in the text. Throws when there is none. */
  readonly functionIn: (member: string, text: string) => string;
}

export interface Resources {
  /** The resources of these types. Throws an Error that names a property that is not supported. */
  readonly of: <Schema extends z.ZodType>(
    types: string | readonly string[],
    schema: Schema,
  ) => readonly Resource<z.output<Schema>>[];
  readonly outputs: () => Readonly<Record<string, string>>;
}

/** Types that would run in the account but not here: a start refuses them. */
const unservedTypes: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::Authorizer',
  'AWS::ApiGatewayV2::Authorizer',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Url',
  'AWS::Pipes::Pipe',
  'AWS::CloudFormation::CustomResource',
]);

/** The only type of custom resource that is served: its function puts the pages of the portal into a bucket. */
export const pagesType = 'Custom::PortalPages';
/** A table of one machine is never deleted, so there is nothing to protect. */
const protectionType = 'Custom::TableProtection';

/** The pair of keys that signs addresses of results. local/local-aws.ts makes it, as its function does. */
const keyPairType = 'Custom::ResultKeyPair';
const servedTypes: readonly string[] = [pagesType, protectionType, keyPairType];

/** Opens the resources of a template. Throws when a type is not served on one machine. */
export function openResources(template: Template, surroundings: Surroundings): Resources {
  const { resolve, holds } = createResolver(template, surroundings);
  const present = Object.entries(template.Resources).filter(([, resource]) => holds(resource.Condition));
  for (const [id, { Type }] of present) {
    if (unservedTypes.has(Type) || (Type.startsWith('Custom::') && !servedTypes.includes(Type)))
      throw new Error(`${Type} ${id}: this type is not served on one machine`);
  }

  function read<Schema extends z.ZodType>(
    id: string,
    resource: TemplateResource,
    schema: Schema,
  ): Resource<z.output<Schema>> {
    const unsupported = (what: string): Error => new Error(`${resource.Type} ${id}: ${what}`);
    let resolved: unknown;
    try {
      resolved = resolve(resource.Properties ?? {});
    } catch (error) {
      throw unsupported(error instanceof Error ? error.message : String(error));
    }
    const parsed = schema.safeParse(resolved);
    if (!parsed.success)
      throw unsupported(
        parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
      );
    return {
      id,
      properties: parsed.data,
      metadata: resource.Metadata ?? {},
      unsupported,
      functionIn: (member, text) => {
        const functionId = idOfArn('function', text);
        if (functionId === undefined)
          throw unsupported(`${member} ${text} is not a function of this template`);
        return functionId;
      },
    };
  }
  return {
    of: (types, schema) => {
      const wanted = [types].flat();
      return present
        .filter(([, { Type }]) => wanted.includes(Type))
        .map(([id, resource]) => read(id, resource, schema));
    },
    outputs: () => {
      const served = Object.entries(template.Outputs ?? {}).filter(([, output]) => holds(output.Condition));
      return Object.fromEntries(served.map(([name, output]) => [name, String(resolve(output.Value))]));
    },
  };
}
