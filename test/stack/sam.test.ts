/** What SAM's command line asks of a template that CDK has synthesized, and what is prepared for it. */
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleEvents } from '../../tools/sam/events.ts';
import {
  awsVariables,
  samNames,
  samTemplate,
  samVariables,
  type Template,
} from '../../tools/sam/template.ts';
import { operations } from '../../core/contract.ts';
import { resolved, templatePath } from './template.ts';

const template = JSON.parse(readFileSync(templatePath, 'utf8')) as Template;
const prepared = samTemplate(template, templatePath);
const functionsOf = ({ Resources }: Template): [string, Template['Resources'][string]][] =>
  Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::Lambda::Function');
const names = samNames(template);
const variables = samVariables(resolved.functions, names, {
  awsUrl: 'http://127.0.0.1:4566',
  environment: { OUTBOUND_RULES: 'loopback-too', NOBODYS: 'x' },
});

describe('the template', () => {
  it('The template is one flat stack whose functions each have a name for SAM, the name of their construct', () => {
    expect(Object.values(template.Resources).map(({ Type }) => Type)).not.toContain(
      'AWS::CloudFormation::Stack',
    );
    for (const [id, { Metadata: metadata }] of functionsOf(template))
      expect(id.startsWith(String(metadata?.['SamResourceId']))).toBe(true);
    expect(new Set(names.values()).size).toBe(functionsOf(template).length);
  });
});

describe('what is prepared for SAM', () => {
  it('The template for SAM names each bundle by its absolute path', () => {
    for (const [id, { Metadata: metadata }] of functionsOf(prepared)) {
      const path = String(metadata?.['aws:asset:path']);
      expect(isAbsolute(path) && existsSync(join(path, 'index.mjs')), id).toBe(true);
    }
  });

  it('The variables for SAM include every variable that the template declares, and no other, since SAM would drop it', () => {
    for (const [id, { Properties: properties }] of functionsOf(prepared)) {
      const environment = properties?.['Environment'] as { Variables: Record<string, unknown> } | undefined;
      expect(Object.keys(variables[names.get(id) ?? ''] ?? {}).sort(), id).toEqual(
        Object.keys(environment?.Variables ?? { none: id }).sort(),
      );
    }
  });

  it('The variables for SAM point each function at the local service, under the name of its role', () => {
    for (const { id, roleId } of resolved.functions) {
      expect(variables[names.get(id) ?? '']).toMatchObject({
        AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
        AWS_ACCESS_KEY_ID: roleId,
      });
    }
  });

  it("The variables for SAM have the local service's own values where it has some", () => {
    expect(variables['DeliverWebhook']).toMatchObject({ OUTBOUND_RULES: 'loopback-too' });
    for (const values of Object.values(variables)) expect(values).not.toHaveProperty('NOBODYS');
  });

  it('The variables for SAM are values alone, because SAM makes an unresolved reference an empty text', () => {
    for (const values of Object.values(variables))
      for (const value of Object.values(values)) expect(value).not.toMatch(/\$\{|Fn::|\[object/);
  });

  it('The template for SAM has no other change', () => {
    const undone = structuredClone(prepared) as {
      Resources: Record<
        string,
        {
          Properties?: { Environment?: { Variables: Record<string, unknown> } };
          Metadata?: Record<string, unknown>;
        }
      >;
    };
    for (const [id] of functionsOf(template)) {
      const { Environment: environment } = undone.Resources[id]?.Properties ?? {};
      for (const name of awsVariables) delete environment?.Variables[name];
      Object.assign(undone.Resources[id]?.Metadata ?? {}, {
        'aws:asset:path': template.Resources[id]?.Metadata?.['aws:asset:path'],
      });
    }
    expect(undone).toEqual(template);
  });

  it('The events for SAM have a sample for every function but that of unknown routes', () => {
    expect(Object.keys(sampleEvents('dk_live_x')).sort()).toEqual(
      [...names.values()].filter((name) => name !== 'UnknownRoute').sort(),
    );
    const events = sampleEvents('dk_live_x') as Record<
      string,
      { routeKey?: string; requestContext?: { path?: string }; headers?: Record<string, string> }
    >;
    expect(events['OpenaiImages']?.requestContext?.path).toBe('/openai/v1/images/generations');
    expect(events['Mcp']?.requestContext?.path).toBe('/mcp');
    for (const [name, { method, path }] of Object.entries(operations)) {
      const event = events[name.charAt(0).toUpperCase() + name.slice(1)];
      expect(event?.routeKey).toBe(`${method} /api/public/v1${path}`);
      expect(event?.headers?.['authorization']).toBe('Bearer dk_live_x');
    }
  });
});
