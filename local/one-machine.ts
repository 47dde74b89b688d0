import path from 'node:path';
import { apiRoot, mcpPath, openaiRoot, stripeEventsRoute } from '../service/contract/operations.ts';
import { type Advanced, createAdvance } from './advance.ts';
import { localSecretKey } from './aws/aws-call.ts';
import type { AwsEndpoint } from './aws/endpoint.ts';
import type { Faults } from './aws/faults.ts';
import { openFunctionVersions } from './aws/function-versions.ts';
import { backUp, checkRestored } from './backup.ts';
import { openClock, type VirtualClock } from './clock.ts';
import { createControl, describeState } from './control/control.ts';
import { createOwnerControl, type OwnerControlOptions } from './control/owner-control.ts';
import type { ReceivedWebhook } from './control/inbox-page.ts';
import { type Inbox, inboxPath, openInbox, type VerifyWebhook } from './control/inbox.ts';
import { FolderRefused, type OnWriteFailed, type WriteFailed } from './disk.ts';
import { openDiskRoom } from './disk-room.ts';
import { refuseOldForm } from './dynamodb/journal/load-folder.ts';
import { lockFolder, readSecretKey } from './folder-lock.ts';
import { createPages, createResults } from './front/objects.ts';
import { createPortalFront, createReferences, portalPath } from './front/portal-front.ts';
import { createPublication, type Publication } from './front/publish.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { createRestApi } from './gateway/rest-api.ts';
import { createLocalIssuer } from './issuer/issuer.ts';
import type { FunctionLogLine } from './lambda/messages.ts';
import type { LocalAws } from './local-aws.ts';
import { type Runtime, type RuntimeEvent, startRuntime } from './runtime.ts';
import { servedUnder, withLocalUploads, withoutPayments } from './served-template.ts';
import { createPublicDoor, type PublicService, publicUrlOf } from './public-door.ts';
import { listen, routed, type ServerHandlers } from './server.ts';
import { createLocalStripe, localStripeSecret, stripePath } from './stripe/local-stripe.ts';
import type { Executions } from './step-functions/executions.ts';
import { type LocalTemplate, readTemplate } from './template.ts';

/** An event of the running service, for the terminal and for tests. */
export type MachineEvent = RuntimeEvent | { readonly event: 'webhook'; readonly webhook: ReceivedWebhook };

export interface OneMachineOptions {
  /** The template that CDK has synthesized. Its folder holds the bundles, too. */
  readonly templatePath: string;
  /** The data folder. It is made when it is missing, and files that are not the service's may be in it. */
  readonly folder: string;
  /** The port of the service. Without a port, or with 0, the service takes a free port. */
  readonly port?: number;
  /** The machine serves others under a public address. Absent: a test machine, on loopback and with its controls. */
  readonly service?: PublicService;
  /** Values that replace environment variables of the template. `{origin}` becomes this server's address. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly verifyWebhook: VerifyWebhook;
  /** The addresses that the issuer of this machine offers for a sign-in. The default is none. */
  readonly people?: () => Promise<readonly string[]>;
  /** How long a transaction of DynamoDB holds its items, in real milliseconds. The default is 0. */
  readonly transactionHoldMillis?: number;
  /** How far back a table can be restored, in memory. The default is 0: not at all. */
  readonly recoverMillis?: number;
  /** The memory of the process. The default gives each function the workers that it asks for. */
  readonly memoryMegabytes?: number | undefined;
  /** Below these free bytes of the folder's disk the service takes no new work. The default is 0. */
  readonly minFreeBytes?: number;
  /** The free bytes of the folder's disk, for tests. The default asks the operating system. */
  readonly freeBytes?: (folder: string) => number;
  /** false: a function with a schedule runs only in an advance of the clock. The default is true. */
  readonly firesByItself?: boolean;
  /** A record could not be kept. The caller must end the process. The default throws, which ends the process. */
  readonly onWriteFailed?: OnWriteFailed;
  readonly onLog?: (line: FunctionLogLine) => void;
  readonly onEvent?: (event: MachineEvent) => void;
}

/** The running service, for the command that started it and for tests. */
export interface OneMachine {
  /** http://127.0.0.1:PORT/api/public/v1 */
  readonly apiUrl: string;
  /** http://127.0.0.1:PORT/openai/v1 */
  readonly openaiUrl: string;
  /** http://127.0.0.1:PORT/mcp */
  readonly mcpUrl: string;
  readonly localUrl: string;
  readonly inboxUrl: string;
  /** http://127.0.0.1:PORT/portal/ */
  readonly portalUrl: string;
  /** The address of the local AWS, for SDK clients. The access key id `operator` may do everything. */
  readonly awsUrl: string;
  readonly template: LocalTemplate;
  readonly clock: VirtualClock;
  readonly faults: Faults;
  /** Calls the local AWS without HTTP. */
  readonly aws: AwsEndpoint['handle'];
  /** Lets a test see the calls to AWS, hold them back, and act between them. */
  readonly interceptAws: AwsEndpoint['intercept'];
  /** The grants that calls of the functions have used so far, as `role action resource`. */
  readonly usedGrants: LocalAws['usedGrants'];
  /** The secret key of calls to the local AWS. */
  readonly awsSecretKey: string;
  /** Gives new connections to the public address this certificate, when it speaks TLS. */
  readonly renewCertificate: (pem: NonNullable<PublicService['tls']>) => void;
  /** Takes no new connections, and waits until the requests under way are answered, or for this long. */
  readonly drain: (millis: number) => Promise<void>;
  /** The executions of the state machines, with their histories. */
  readonly executions: Pick<Executions, 'find' | 'list'>;
  readonly advance: (seconds: number) => Promise<Advanced>;
  /** Lets a test exchange the code of a function in the middle of a run. */
  readonly updateCode: Runtime['functions']['updateCode'];
  /** Stops the service within 10 s. Open executions run again from their start at the next start. */
  readonly stop: () => Promise<void>;
}

/** Below this prefix of their bucket are the uploads of clients (service/uploads/upload.ts). */
const uploadsPrefix = 'uploads/';

/** Closes one part of the service. stop() closes the parts in the reverse order of their start. */
type Closer = () => Promise<void> | void;

/** Starts the whole service. Throws FolderRefused, EADDRINUSE, or an Error that names an unsupported resource. */
export async function startOneMachine(options: OneMachineOptions): Promise<OneMachine> {
  const closers: Closer[] = [];
  const stop = async (): Promise<void> => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  };
  try {
    return { ...(await start(options, (close) => closers.push(close))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: OneMachineOptions,
  onStop: (close: Closer) => void,
): Promise<Omit<OneMachine, 'stop'>> {
  const { folder, environment = {}, service, onEvent, minFreeBytes = 0 } = options;
  const { onWriteFailed = throwLater } = options;
  const room = openDiskRoom({
    folder,
    minFreeBytes,
    tell: (sentence) => console.error(sentence),
    ...(options.freeBytes && { freeBytes: options.freeBytes }),
  });
  room.release();
  // Before the lock, which is the first thing that a start writes.
  refuseOldForm(path.join(folder, 'tables'));
  const lock = lockFolder(folder);
  onStop(lock.release);
  await checkRestored(folder);
  room.reserve();
  const clock = openClock(path.join(folder, 'clock.json'));
  if (service && clock.offset() !== 0) throw shiftedFolder(folder);
  const inbox = openInboxOf(options, clock);
  onStop(inbox.close);
  const onError = (error: unknown): void => console.error('gateway:', error);
  const server = await listen({ ...service, port: options.port ?? 0 }, onError);
  onStop(server.close);
  const own = service && (await listen({ port: 0 }, onError));
  if (own) onStop(own.close);
  const url = service ? publicUrlOf(service, server.port) : server.url;
  const access = service && { secretKey: readSecretKey(folder), uploadsUrl: url };
  const versions = openFunctionVersions(path.join(folder, 'lambda', 'versions.json'), clock.now);
  const synthesized = readTemplate(options.templatePath, {
    apiEndpoint: url,
    versionOf: versions.publish,
  });
  const template = servedUnder(url, service ? withoutPayments(synthesized) : synthesized, environment);
  const runtime = await startRuntime({
    template,
    folder,
    clock,
    versions,
    transactionHoldMillis: options.transactionHoldMillis,
    recoverMillis: options.recoverMillis,
    memoryMegabytes: options.memoryMegabytes,
    privateNetworks: environment['PRIVATE_NETWORKS'],
    access,
    firesByItself: options.firesByItself,
    onWriteFailed,
    onLog: options.onLog,
    onEvent,
  });
  onStop(runtime.stop);
  const stripe = createLocalStripe({
    file: path.join(folder, 'stripe.json'),
    url: `${url}${stripePath}`,
    now: clock.now,
    random: Math.random,
    receiver: { url: `${url}${stripeEventsRoute}`, secrets: [localStripeSecret] },
  });
  onStop(stripe.close);
  const advance = createAdvanceOf({ ...runtime, schedule: stripe.join(runtime.schedule) }, clock, onStop);

  const { aws, functions } = runtime;
  const addresses = addressesOf(url, own?.url ?? url, aws.url);
  const state = (): unknown => describeState({ clock, folder, template, environment, runtime, addresses });
  const gateway = createGateway({
    routes: template.routes,
    functions,
    now: clock.now,
    throttles: aws.faults.throttlesRequest,
    hasRoom: room.isEnough,
  });
  const publication = createPublication(template.publishers, functions, own?.url ?? url);
  const people = options.people ?? (() => Promise.resolve([]));
  const restApis = template.restApis.map((api) =>
    createRestApi({
      api,
      functions,
      now: clock.now,
      throttles: aws.faults.throttlesRequest,
      hasRoom: room.isEnough,
    }),
  );
  const uploadsUrl = access?.uploadsUrl ?? aws.url;
  const fronts = frontsOf({ template, gateway, aws, publication, uploadsUrl, url, now: clock.now });
  const parts = { api: gateway.handle, restApis, ...fronts };
  let isEnding = false;
  if (own) {
    const bucket = template.distributions.find(({ behaviors }) => behaviors.length === 0)?.bucket ?? '';
    const backup: OwnerControlOptions['backup'] = (to, tell, tablesOnly) =>
      backUp(folder, to, { objects: aws.objects, now: clock.now, tell, tablesOnly });
    own.serve(createOwnerControl({ secret: lock.secret, prove: lock.prove, state, backup, publication }));
    server.serve(
      createPublicDoor({
        url,
        trusted: service.trusted,
        isReady: () => !isEnding && room.isEnough(),
        doors: [aws.uploads({ bucket, prefix: uploadsPrefix }), ...(service.door ? [service.door] : [])],
        rest: routed(parts),
        ...(service.onAnswer && { onAnswer: service.onAnswer }),
      }),
    );
  } else {
    if (!aws.topics) throw new Error('a test machine without topics');
    const control = createControl({
      inbox,
      topics: aws.topics,
      faults: aws.faults,
      advance,
      crash: functions.crash,
      prove: lock.prove,
      state,
      publication,
      issuer: createLocalIssuer({ url, template, handle: aws.handle, now: clock.now, people }),
      stripe: stripe.handle,
    });
    server.serve(routed({ ...parts, control }));
    stripe.begin();
  }
  runtime.begin();
  lock.announce({
    port: server.port,
    ...addresses,
    ...(access && { awsSecretKey: access.secretKey }),
    outputs: template.outputs,
  });
  return {
    ...addresses,
    template,
    clock,
    faults: aws.faults,
    aws: aws.handle,
    interceptAws: aws.intercept,
    usedGrants: aws.usedGrants,
    awsSecretKey: access?.secretKey ?? localSecretKey,
    renewCertificate: server.renew,
    drain: (millis) => {
      isEnding = true;
      return server.drain(millis);
    },
    executions: runtime.executions,
    advance,
    updateCode: functions.updateCode,
  };
}

/** The distributions: that of the results, and that of the portal. */
function frontsOf({
  template,
  gateway,
  aws,
  publication,
  uploadsUrl,
  url,
  now,
}: {
  readonly template: LocalTemplate;
  readonly gateway: Gateway;
  readonly aws: LocalAws;
  readonly publication: Publication;
  readonly uploadsUrl: string;
  readonly url: string;
  readonly now: () => number;
}): Pick<ServerHandlers, 'results' | 'portal'> {
  const portal = template.distributions
    .filter(({ behaviors }) => behaviors.length > 0)
    .map((one) => withLocalUploads(one, template, uploadsUrl))[0];
  const results = template.distributions.find(({ behaviors }) => behaviors.length === 0);
  return {
    results: createResults(aws.objects, results ?? { bucket: '', readable: [], added: {}, pages: [] }, {
      url,
      keyGroups: aws.keyGroups,
      now,
    }),
    portal: portal
      ? createPortalFront({
          distribution: portal,
          gateway,
          servePage: createPages(aws.objects, portal),
          publish: publication.publish,
          valueOf: createReferences(aws.handle),
          apiHost: new URL(url).host,
        })
      : { serves: () => false, handle: () => Promise.reject(new Error('the template has no portal')) },
  };
}

function shiftedFolder(folder: string): FolderRefused {
  return new FolderRefused(
    'FOLDER_UNUSABLE',
    `The clock of the folder ${folder} was set forward by a test machine: choose another folder with --data.`,
  );
}

/** An uncaught error ends the process. */
function throwLater(failure: WriteFailed): void {
  setImmediate(() => {
    throw failure;
  });
}

function openInboxOf(
  { folder, verifyWebhook, onEvent, onWriteFailed = throwLater }: OneMachineOptions,
  clock: VirtualClock,
): Inbox {
  return openInbox({
    file: path.join(folder, 'inbox.jsonl'),
    now: clock.now,
    verify: verifyWebhook,
    onWriteFailed,
    onReceived: (webhook) => onEvent?.({ event: 'webhook', webhook }),
  });
}

/** An advance that is under way when the service stops must end at once, so it asks whether it may go on. */
function createAdvanceOf(
  { schedule, interpreter, functions, hasOpenExecutions }: Runtime,
  clock: VirtualClock,
  onStop: (close: Closer) => void,
): OneMachine['advance'] {
  let stopping = false;
  onStop(() => {
    stopping = true;
  });
  return createAdvance({
    clock,
    schedule,
    isStopping: () => stopping,
    sync: interpreter.sync,
    inFlight: functions.inFlight,
    hasOpenExecutions,
  });
}

function addressesOf(
  url: string,
  controlUrl: string,
  awsUrl: string,
): Pick<OneMachine, 'apiUrl' | 'openaiUrl' | 'mcpUrl' | 'localUrl' | 'inboxUrl' | 'portalUrl' | 'awsUrl'> {
  return {
    apiUrl: `${url}${apiRoot}`,
    openaiUrl: `${url}${openaiRoot}`,
    mcpUrl: `${url}${mcpPath}`,
    localUrl: `${controlUrl}/_local`,
    inboxUrl: `${controlUrl}${inboxPath}`,
    portalUrl: `${url}${portalPath}/`,
    awsUrl,
  };
}
