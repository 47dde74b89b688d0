import type * as z from 'zod';
import type { Template } from './intrinsics.ts';
import { createResolver } from './intrinsics.ts';
import type { Surroundings, TemplateResource } from './local-names.ts';

/** A resource whose properties are resolved and match a schema. */
export interface Resource<Properties> {
  readonly id: string;
  readonly properties: Properties;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Makes an Error that names the resource. */
  readonly unsupported: (what: string) => Error;
}

/** Reads a template's resources by type. */
export interface Resources {
  /**
   * The resources of these types, in the template's order. Throws an Error that names the resource and the
   * property that is not supported.
   */
  readonly of: <Schema extends z.ZodType>(
    types: string | readonly string[],
    schema: Schema,
  ) => readonly Resource<z.output<Schema>>[];
  readonly outputs: () => Readonly<Record<string, string>>;
}

/**
 * These types would run in the account but not here. The start refuses them, so that they are never left out
 * silently.
 */
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

/** Opens the resources of a template. Throws when a type is not served on one machine. */
export function openResources(template: Template, surroundings: Surroundings): Resources {
  const { resolve, holds } = createResolver(template, surroundings);
  const present = Object.entries(template.Resources).filter(([, resource]) => holds(resource.Condition));
  for (const [id, { Type }] of present) {
    if (
      unservedTypes.has(Type) ||
      (Type.startsWith('Custom::') && Type !== pagesType && Type !== protectionType)
    )
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
    return { id, properties: parsed.data, metadata: resource.Metadata ?? {}, unsupported };
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
