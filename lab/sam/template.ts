/**
 * Changes the synthesized template for SAM's command line. SAM sets only those environment variables that the
 * template declares, so the template must declare the address of the local service.
 */
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import type { LocalFunction } from '../../local/template.ts';

const propertiesSchema = z.record(z.string(), z.unknown());
const resourceSchema = z.looseObject({
  Type: z.string(),
  Properties: propertiesSchema.optional(),
  Metadata: propertiesSchema.optional(),
});
const templateSchema = z.looseObject({ Resources: z.record(z.string(), resourceSchema) });
const environmentSchema = z.object({ Variables: propertiesSchema.optional() }).default({});

type Resource = z.infer<typeof resourceSchema>;
export type Template = z.infer<typeof templateSchema>;

export function isTemplate(value: unknown): value is Template {
  return templateSchema.safeParse(value).success;
}

/** The variables that tell a function under SAM the address of AWS and its identity there. */
export const awsVariables = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

/** The template in which every function declares these variables and has the absolute path of its bundle. */
export function samTemplate(template: Template, templatePath: string): Template {
  const resources = Object.entries(template.Resources).map(([id, resource]): [string, Resource] => [
    id,
    resource.Type === 'AWS::Lambda::Function' ? samFunction(resource, templatePath) : resource,
  ]);
  return { ...template, Resources: Object.fromEntries(resources) };
}

function samFunction(resource: Resource, templatePath: string): Resource {
  const { Variables: declared } = environmentSchema.parse(resource.Properties?.['Environment']);
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

/** The name that SAM uses for each function, by the function's id in the template. */
export function samNames(template: Template): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(template.Resources).flatMap(([id, { Metadata: metadata }]) =>
      typeof metadata?.['SamResourceId'] === 'string' ? [[id, metadata['SamResourceId']]] : [],
    ),
  );
}

export interface LocalPlace {
  /** The address of AWS from within a container. */
  readonly awsUrl: string;
  /** The values that the local service gives its functions instead of the template's values. */
  readonly environment: Readonly<Record<string, string>>;
}

type Variables = Readonly<Record<string, string>>;

/**
 * The content of the file for `--env-vars`: every variable of every function, as the local service sets it.
 * The stand-in identifies a caller by its access key id, which is the id of the function's role.
 */
export function samVariables(
  functions: readonly LocalFunction[],
  names: ReadonlyMap<string, string>,
  place: LocalPlace,
): Readonly<Record<string, Variables>> {
  const withLocalValues = (declared: Variables): Variables =>
    Object.fromEntries(
      Object.entries(declared).map(([name, value]) => [name, place.environment[name] ?? value]),
    );
  return Object.fromEntries(
    functions.map(({ id, roleId, environment }) => [
      names.get(id) ?? id,
      {
        ...withLocalValues(environment),
        AWS_ENDPOINT_URL: place.awsUrl,
        AWS_ACCESS_KEY_ID: roleId,
        AWS_SECRET_ACCESS_KEY: 'local',
      },
    ]),
  );
}
