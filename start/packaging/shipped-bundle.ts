/** In the package, the bundles are there already (lib/bundling/bundle.ts): beside the template that names them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Code } from 'aws-cdk-lib/aws-lambda';
import * as z from 'zod';

const cloud = new URL('../../cloud/', import.meta.url);
const metadataSchema = z.object({ SamResourceId: z.string(), 'aws:asset:path': z.string() });
const templateSchema = z.object({ Resources: z.record(z.string(), z.object({ Metadata: z.unknown() })) });

/** The folders of the bundles, by the construct ids of the functions. */
function foldersOf(template: string): ReadonlyMap<string, string> {
  const { Resources } = templateSchema.parse(JSON.parse(template));
  const functions = Object.values(Resources).flatMap(({ Metadata }) => {
    const { data } = metadataSchema.safeParse(Metadata);
    return data ? [[data.SamResourceId, data['aws:asset:path']] as const] : [];
  });
  return new Map(functions);
}

let folders: ReadonlyMap<string, string> | undefined;

/** A function that the shipped template lacks has a folder of its own name. */
export function bundle({ id }: { readonly id: string }): Code {
  folders ??= foldersOf(readFileSync(new URL('Darkroom.template.json', cloud), 'utf8'));
  return Code.fromAsset(fileURLToPath(new URL(folders.get(id) ?? id, cloud)));
}
