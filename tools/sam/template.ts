/**
 * What SAM's command line needs of the synthesized template: SAM passes on only those
 * environment variables that the template declares, so that the address of the local
 * service has to be declared before it can be given.
 */
import { dirname, resolve } from 'node:path';
import type { LocalFunction } from '../../local/template.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** Where AWS is for a function that SAM runs, and who it is there. */
export const awsVariables = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

/** The template with these variables declared for every function, and with absolute paths of the bundles. */
export function samTemplate(template: Template, templatePath: string): Template {
  const resources = Object.entries(template.Resources).map(([id, resource]) => [
    id,
    resource.Type === 'AWS::Lambda::Function' ? samFunction(resource, templatePath) : resource,
  ]);
  return { ...template, Resources: Object.fromEntries(resources) as Template['Resources'] };
}

function samFunction(resource: Resource, templatePath: string): Resource {
  const { Variables: declared } = (resource.Properties?.['Environment'] ?? {}) as {
    readonly Variables?: object;
  };
  const declaredToo = Object.fromEntries(awsVariables.map((name) => [name, '']));
  return {
    ...resource,
    Properties: { ...resource.Properties, Environment: { Variables: { ...declared, ...declaredToo } } },
    Metadata: {
      ...resource.Metadata,
      'aws:asset:path': resolve(dirname(templatePath), String(resource.Metadata?.['aws:asset:path'])),
    },
  };
}

/** The name by which SAM knows a function. */
export function samNames(template: Template): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(template.Resources).flatMap(([id, { Metadata: metadata }]) =>
      typeof metadata?.['SamResourceId'] === 'string' ? [[id, metadata['SamResourceId']]] : [],
    ),
  );
}

export interface LocalPlace {
  /** As a container reaches it. */
  readonly awsUrl: string;
  /** What the local service gives its functions instead of the template's values. */
  readonly environment: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string>>;

/** For `--env-vars`: every variable of every function, as the local service gives it. The role's id is the key by which the stand-in judges the caller. */
export function samVariables(
  functions: readonly LocalFunction[],
  names: ReadonlyMap<string, string>,
  place: LocalPlace,
): Readonly<Record<string, Variables>> {
  const asThere = (declared: Variables): Variables =>
    Object.fromEntries(
      Object.entries(declared).map(([name, value]) => [name, place.environment[name] ?? value]),
    );
  return Object.fromEntries(
    functions.map(({ id, roleId, environment }) => [
      names.get(id) ?? id,
      {
        ...asThere(environment),
        AWS_ENDPOINT_URL: place.awsUrl,
        AWS_ACCESS_KEY_ID: roleId,
        AWS_SECRET_ACCESS_KEY: 'local',
      },
    ]),
  );
}
