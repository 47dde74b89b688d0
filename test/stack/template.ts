/** The synthesized template: as CloudFormation gets it, and with all references resolved. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { readTemplate, type LocalTemplate } from '../../local/template.ts';
import { type LocalFunction } from '../../local/template/compute.ts';

export const templatePath = await synthesizedTemplate();

export const template = Template.fromJSON(
  JSON.parse(readFileSync(templatePath, 'utf8')) as Record<string, unknown>,
);
export const resolved: LocalTemplate = readTemplate(templatePath);

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

/** Logical id and resource of every resource of a type. */
export function resourcesOf(type: string): [id: string, resource: Resource][] {
  return Object.entries(template.findResources(type) as Record<string, Resource>);
}

/** A logical id without the hash that the CDK appends: "RenderImage". */
export function nameOf(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}

/** A value of the template as one text: "@RenderImage" for a reference to a resource or its attribute. */
export function wordOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[kind, to] = []] = Object.entries(value);
  if (kind === 'Ref') return `@${nameOf(String(to))}`;
  if (kind === 'Fn::GetAtt' && Array.isArray(to)) return `@${nameOf(String(to[0]))}`;
  if (kind === 'Fn::Join' && Array.isArray(to) && Array.isArray(to[1])) return to[1].map(wordOf).join('');
  return JSON.stringify(value);
}

/** The bundle of a function as it is uploaded. */
export function bundleOf({ codeFolder }: LocalFunction): { readonly folder: string; readonly text: string } {
  return { folder: codeFolder, text: readFileSync(join(codeFolder, 'index.mjs'), 'utf8') };
}
