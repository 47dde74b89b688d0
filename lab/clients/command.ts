/**
 * `npm run lab -- clients`: generators of clients and checkers of MCP, as their registries have them, before a
 * service of their own. docs/measurements/unmodified-clients.md has the results.
 */
import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { createOutput, type Row } from '../../client/command/terminal/output.ts';
import { listenOnLoopback } from '../../local/http.ts';
import { documentPath } from '../../service/document/document-path.ts';
import { startService } from '../../start/service.ts';

/** A program with its version, the commands that it needs, and how it is installed and run in an empty folder. */
type Client = readonly [name: string, needs: string, script: string];

const python = 'python3 -m venv venv && export PATH=$PWD/venv/bin:$PATH && pip -q install';
const npm = 'npm init -y && npm pkg set type=module && npm install --ignore-scripts';
const typescript = 'typescript@5.9.3 @types/node tsx';
const runTypescript = `npx tsc --strict --noEmit --skipLibCheck --allowImportingTsExtensions --target es2022 \
  --module preserve main.ts && npx tsx main.ts`;

function openapiGenerator(version: string): readonly Client[] {
  const generate = `mvn -q dependency:copy -DoutputDirectory=. \
    -Dartifact=org.openapitools:openapi-generator-cli:${version} &&
    java -jar openapi-generator-cli-${version}.jar generate -i $DOCUMENT -o client -g`;
  return [
    [
      `openapi-generator ${version} for Python`,
      'java mvn python3',
      `${generate} python && ${python} ./client && python $PROGRAMS/openapi-generator.py`,
    ],
    [
      `openapi-generator ${version} for Go`,
      'java mvn go',
      `${generate} go && mkdir client/main && cp $PROGRAMS/openapi-generator.go client/main && cd client &&
        go mod tidy && go vet . ./main && go run ./main`,
    ],
  ];
}

const clients: readonly Client[] = [
  ...openapiGenerator('7.17.0'),
  ...openapiGenerator('7.25.0'),
  [
    'oapi-codegen 2.8.2',
    'go',
    `go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \
      -generate types,client -package main -o client.go $DOCUMENT && cp $PROGRAMS/oapi-codegen.go . &&
      go mod init darkroom && go mod tidy && go vet . && go run .`,
  ],
  [
    'openapi-python-client 0.29.1',
    'python3',
    `${python} openapi-python-client==0.29.1 &&
      openapi-python-client generate --path $DOCUMENT --output-path client --fail-on-warning &&
      pip -q install ./client && python $PROGRAMS/openapi-python-client.py`,
  ],
  [
    'openapi-typescript 7.13.0, openapi-fetch 0.17.0',
    'npm',
    `${npm} openapi-typescript@7.13.0 openapi-fetch@0.17.0 ${typescript} &&
      npx openapi-typescript $DOCUMENT -o darkroom.ts &&
      sed -n '/ example=generated$/,/^\`\`\`$/{//!p}' $(dirname $DOCUMENT)/recipes.md > main.ts &&
      export DARKROOM_BASE_URL=\${DARKROOM_API%/api/*} DARKROOM_API_KEY=$DARKROOM_KEY && ${runTypescript}`,
  ],
  [
    '@hey-api/openapi-ts 0.99.0',
    'npm',
    `${npm} @hey-api/openapi-ts@0.99.0 ${typescript} && npx openapi-ts -i $DOCUMENT -o client &&
      cp $PROGRAMS/hey-api.ts.txt main.ts && ${runTypescript}`,
  ],
  [
    'Spectral 6.16.3, Redocly 2.77.0',
    'npm',
    `${npm} @stoplight/spectral-cli@6.16.3 @redocly/cli@2.77.0 &&
      echo 'extends: ["spectral:oas"]' > rules.yaml && npx spectral lint -r rules.yaml $DOCUMENT &&
      npx redocly lint --format stylish $DOCUMENT 2>&1 && echo no error`,
  ],
  [
    'MCP inspector 2.12.0',
    'npm',
    `${npm} @modelcontextprotocol/inspector@2.12.0 &&
      ask() { npx mcp-inspector --cli $MCP --header "Authorization: Bearer $DARKROOM_KEY" --method "$@"; } &&
      ask tools/list --strict && ask tools/call --tool-name generate_image --tool-arg prompt=lake | grep '"status"'`,
  ],
  [
    'MCP conformance 0.1.16',
    'npm',
    // Every other scenario calls tools, prompts or resources of a server that was made for the suite.
    `${npm} @modelcontextprotocol/conformance@0.1.16 &&
      for scenario in server-initialize ping tools-list dns-rebinding-protection; do
        npx conformance server --url $MCP_WITH_KEY --scenario $scenario || exit 1
      done`,
  ],
];

/** Resolves with whether every program worked that this machine can run. */
export async function run(args: string[]): Promise<boolean> {
  const { json = false, only = '' } = new Command('npm run lab -- clients')
    .description('Run generators of clients and checkers of MCP against the service')
    .option('--only <text>', 'the programs whose name has this text')
    .option('--json', 'one JSON document')
    .parse(args, { from: 'user' })
    .opts<{ json?: boolean; only?: string }>();
  const folder = await mkdtemp(join(tmpdir(), 'darkroom-clients-'));
  const { machine, demo } = await startService({
    folder: join(folder, 'data'),
    port: 0,
    strictOutbound: false,
  });
  const withKey = keyProxy(machine.mcpUrl, demo.key);
  const environment = {
    ...process.env,
    DOCUMENT: resolve(documentPath),
    PROGRAMS: join(import.meta.dirname, 'programs'),
    DARKROOM_API: machine.apiUrl,
    DARKROOM_KEY: demo.key,
    MCP: machine.mcpUrl,
    MCP_WITH_KEY: `http://127.0.0.1:${await listenOnLoopback(withKey)}/mcp`,
  };
  const rows: Row[] = [];
  for (const client of clients.filter(([name]) => name.includes(only))) {
    console.error(`${client[0]} …`);
    rows.push(await runOne(client, await mkdtemp(join(folder, 'client-')), environment));
  }
  withKey.close();
  await machine.stop();
  createOutput(json, (line) => console.log(line)).list(rows, 'No program has such a name.');
  const worked = rows.every(({ result }) => result !== 'fails');
  if (worked) await rm(folder, { recursive: true, force: true });
  return worked;
}

/** Passes requests on with the key: the conformance suite sends none. */
function keyProxy(url: string, key: string): ReturnType<typeof createServer> {
  return createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${key}` };
    const passed = request(url, { method: asked.method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    asked.pipe(passed);
  });
}

const shell = promisify(execFile);

async function runOne([program, needs, script]: Client, cwd: string, env: NodeJS.ProcessEnv): Promise<Row> {
  const { stdout: missing } = await shell('sh', [
    '-c',
    `for name in ${needs}; do command -v $name >/dev/null || echo $name; done`,
  ]);
  if (missing)
    return { program, result: 'not run', seen: `missing here: ${missing.trim().replaceAll('\n', ', ')}` };
  try {
    const { stdout } = await shell('sh', ['-c', script], { cwd, env, maxBuffer: 2 ** 26 });
    return { program, result: 'works', seen: stdout.trim().split('\n').at(-1)?.trim() };
  } catch (error) {
    const { stdout, stderr } = error as ExecFileException;
    console.error(`${stdout}\n${stderr}`);
    return { program, result: 'fails', seen: `its folder is ${cwd}` };
  }
}
