/** The local AWS as a whole: the process calls it directly, unchanged SDK clients over loopback HTTP. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { discardBody, type Door, listenOnLoopback } from '../http.ts';
import {
  type AwsCall,
  type AwsOutput,
  type AwsService,
  localSecretKey,
  type ServiceName,
  serviceOf,
} from './aws-call.ts';
import { AnswerLost, AwsError } from './aws-error.ts';
import type { Faults } from './faults.ts';
import {
  isOfLambda,
  readJsonInput,
  readLambdaCall,
  readTarget,
  writeJsonError,
  writeJsonOutput,
  writeLambdaError,
  writeLambdaOutput,
} from './json-protocol.ts';
import {
  answerCloudFront,
  isOfCloudFront,
  writeCloudFront,
  writeCloudFrontError,
} from './cloudfront-protocol.ts';
import { operator } from './iam.ts';
import type { KeyGroups } from './key-groups.ts';
import type { ObjectStore } from './object-store.ts';
import { isQuery, readQueryCall, writeQueryError, writeQueryOutput } from './query-protocol.ts';
import { answersCors, type CorsRules, hideMissingKeys, isPresigned, presignedCaller } from './s3-access.ts';
import { readS3Call, writeS3Error, writeS3Output } from './s3-protocol.ts';
import { signedCaller } from './signature.ts';

/** The services of the endpoint, and the checks that every call passes first. */
export interface AwsEndpointOptions {
  readonly dynamodb: AwsService;
  readonly states: AwsService;
  readonly secretsmanager: AwsService;
  readonly lambda: AwsService;
  /** Absent: the endpoint has no operation of SNS. */
  readonly sns?: AwsService;
  readonly objectStore: ObjectStore;
  /** The keys of CloudFront. Absent: the endpoint has no operation of CloudFront. */
  readonly keyGroups?: KeyGroups;
  /** Throws AccessDeniedException when the caller's policies do not allow the call. */
  readonly authorize: (call: AwsCall) => void;
  readonly faults: Faults;
  /** The time by which presigned requests expire, in milliseconds since 1970. */
  readonly now: () => number;
  /** The secret key of all callers, whose signatures are checked. Absent: a test machine, which trusts its users. */
  readonly secretKey?: string;
  /** The rules for requests of web pages. The default is no rule. */
  readonly corsRules?: CorsRules;
}

/** Stands between a call and its service. It decides when to serve the call and what to answer. */
export type AwsInterceptor = (call: AwsCall, serve: () => Promise<AwsOutput>) => Promise<AwsOutput>;

export interface AwsEndpoint {
  /** Serves a call under policies and faults. Throws AwsError, or AnswerLost when a fault cuts the connection. */
  readonly handle: (call: AwsCall) => Promise<AwsOutput>;
  /** From now on every call goes through this interceptor. It replaces the interceptor before. */
  readonly intercept: (interceptor: AwsInterceptor) => void;
  /** Takes presigned uploads below this prefix of a bucket, at the public address of the service. */
  readonly uploads: (place: { readonly bucket: string; readonly prefix: string }) => Door;
  /** Listens on a free port of 127.0.0.1. close() also ends the open connections. */
  readonly listen: () => Promise<{ readonly url: string; readonly close: () => Promise<void> }>;
}

/** Puts the services behind one endpoint. */
export function createAwsEndpoint(options: AwsEndpointOptions): AwsEndpoint {
  const {
    authorize,
    faults,
    now,
    secretKey,
    corsRules = () => [],
    objectStore,
    keyGroups: _ofCloudFront,
    ...others
  } = options;
  const callerOf = (request: IncomingMessage, body: Buffer): string => {
    requireLoopback(request);
    return secretKey === undefined ? namedCaller(request) : signedCaller(request, body, secretKey);
  };
  const presigned = (request: IncomingMessage): string =>
    presignedCaller(request, now(), secretKey ?? localSecretKey);
  const services: Record<ServiceName, AwsService> = {
    sns: serviceOf({}),
    ...others,
    s3: hideMissingKeys(objectStore.service, authorize),
  };
  let interceptor: AwsInterceptor = (_call, serve) => serve();
  function handle(call: AwsCall): Promise<AwsOutput> {
    return interceptor(call, async () => {
      authorize(call);
      return faults.apply(call, (seen) => services[seen.service](seen));
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    response.setHeader('x-amzn-requestid', randomUUID());
    // No Date header: the SDK would take the difference to virtual time for a wrong clock, and repeat calls.
    response.sendDate = false;
    const header = request.headers['x-amz-target'];
    if (typeof header === 'string') {
      const target = readTarget(header);
      return answer(
        async () => {
          const call = { ...target, caller: callerOf(request, body), input: readJsonInput(body) };
          writeJsonOutput(target.service, await handle(call), response);
        },
        (error) => writeJsonError(target.service, error, response),
      );
    }
    if (isOfCloudFront(request.url) && options.keyGroups) {
      const { keyGroups } = options;
      return answer(
        async () => {
          // No function has a right of CloudFront.
          if (callerOf(request, body) !== operator)
            throw new AwsError('AccessDenied', 'Access denied', { status: 403 });
          const ifMatch = request.headers['if-match'];
          const call = {
            method: request.method ?? '',
            url: request.url ?? '',
            ifMatch,
            body: body.toString('utf8'),
          };
          writeCloudFront(answerCloudFront(call, keyGroups, now()), response);
          return Promise.resolve();
        },
        (error) => writeCloudFrontError(error, response),
      );
    }
    if (isOfLambda(request))
      return answer(
        async () => {
          const call = readLambdaCall(request, callerOf(request, body));
          writeLambdaOutput(call, await handle(call), response);
        },
        (error) => writeLambdaError(error, response),
      );
    if (isQuery(request))
      return answer(
        async () => {
          const call = readQueryCall(body, callerOf(request, body));
          writeQueryOutput(call, await handle(call), response);
        },
        (error) => writeQueryError(error, response),
      );
    return answer(
      async () => {
        requireLoopback(request);
        if (answersCors(request, response, corsRules)) return;
        const caller = isPresigned(request) ? presigned(request) : callerOf(request, body);
        const call = readS3Call(request, body, caller);
        writeS3Output(call, await handle(call), response);
      },
      (error) => writeS3Error(request, error, response),
    );
  }

  return {
    handle,
    intercept: (next) => {
      interceptor = next;
    },
    uploads: ({ bucket, prefix }) => ({
      serves: (request) => request.url?.startsWith(`/${bucket}/${prefix}`) === true,
      handle: (request, response) =>
        answer(
          async () => {
            if (answersCors(request, response, corsRules)) return;
            // The signature covers method and length, so a stranger's body is not even read.
            const caller = presigned(request);
            const call = readS3Call(request, await buffer(request), caller);
            if (call.input['Bucket'] !== bucket || !String(call.input['Key']).startsWith(prefix))
              throw new AwsError('AccessDenied', 'Access Denied', { status: 403 });
            writeS3Output(call, await handle(call), response);
          },
          (error) => discardBody(request, response, () => writeS3Error(request, error, response)),
        ),
    }),
    listen: async () => {
      const server = createServer((request, response) => {
        serve(request, response).catch((error: unknown) => {
          // A caller that was killed in the middle of a request is no error here.
          if (!(error instanceof AnswerLost) && request.complete) console.error('local AWS endpoint:', error);
          request.socket.destroy();
        });
      });
      // Never close an idle socket: the SDK may reuse it just then, and would see a lost answer.
      server.keepAliveTimeout = 0;
      const port = await listenOnLoopback(server);
      return {
        url: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
          }),
      };
    },
  };
}

/** Serves a call. Every error but a lost answer is written as a refusal. */
async function answer(work: () => Promise<void>, refuse: (error: AwsError) => void): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof AnswerLost) throw error;
    if (error instanceof AwsError) {
      refuse(error);
      return;
    }
    console.error('local AWS endpoint:', error);
    refuse(new AwsError('InternalServerError', 'Internal server error', { status: 500 }));
  }
}

function requireLoopback(request: IncomingMessage): void {
  // A web page can reach loopback through a host name of its own. An SDK client uses the address.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? ''))
    throw new AwsError('AccessDeniedException', 'the local AWS endpoint answers under 127.0.0.1 only', {
      status: 403,
    });
}

/** The caller that a request of a test machine names. */
function namedCaller(request: IncomingMessage): string {
  const caller = /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\//.exec(request.headers.authorization ?? '')?.[1];
  if (caller === undefined)
    throw new AwsError('MissingAuthenticationTokenException', 'Request is missing Authentication Token', {
      status: 403,
    });
  return caller;
}
