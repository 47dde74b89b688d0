import { isObject } from '../json-object.ts';
import { localAttributes, pseudoParameters } from './local-names.ts';
import type { Surroundings, TemplateResource } from './local-names.ts';

/** The parts of a CloudFormation template that are read here. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Condition?: string }>>;
}

/** Resolves the intrinsic functions of one template to local values. */
export interface Resolver {
  /**
   * The value without intrinsic functions. Throws an Error that names the unsupported function or the unknown
   * name.
   */
  readonly resolve: (value: unknown) => unknown;
  /** Whether a condition of the template holds. No condition always holds. */
  readonly holds: (condition: string | undefined) => boolean;
}

/** The value that Ref or GetAtt gives for a logical id. */
type LookUp = (id: string, attribute: string) => unknown;

type Intrinsic = (argument: unknown, resolve: Resolver['resolve']) => unknown;

/** Makes the resolver of a template. */
export function createResolver(template: Template, surroundings: Surroundings): Resolver {
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

/** The intrinsic functions that read the template. */
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
