/** China and GovCloud are partitions of AWS with names of their own: aws-cn and amazonaws.com.cn, and aws-us-gov. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { serviceUrl } from '../../service/aws/aws-place.ts';
import { templatePath } from './template.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The lines of the deployed code and of its template with this text. */
function linesWith(text: string): readonly string[] {
  const sources = ['functions', 'lib', 'service', 'statemachines'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name)),
  );
  return [...sources, templatePath].flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes(text))
      .map((line) => line.trim()),
  );
}

it('No code and no template writes the domain of AWS, except in the name of a service as a principal', () => {
  const isPrincipal =
    /^("(Service|Principal)": "[a-z]+\.amazonaws\.com",?|.*ServicePrincipal\('[a-z]+\.amazonaws\.com'\).*)$/;
  const lines = linesWith('.amazonaws.com');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !isPrincipal.test(line))).toEqual([]);
});

it('The address of a service has the domain of its partition', () => {
  const china = { region: 'cn-north-1', urlSuffix: 'amazonaws.com.cn' };
  expect(serviceUrl('dynamodb', china)).toBe('https://dynamodb.cn-north-1.amazonaws.com.cn');
  expect(serviceUrl('dynamodb', { ...china, endpoint: 'http://127.0.0.1:1/' })).toBe('http://127.0.0.1:1');
});
