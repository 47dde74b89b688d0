/**
 * The whole service, one flat stack. It reads like the architecture's picture: what
 * keeps state, what a request meets, what an execution does, what looks after it.
 */
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { operations, type OperationName } from '../core/contract.ts';
import { CreationExecution } from './creation-execution.ts';
import { ImageDelivery } from './image-delivery.ts';
import { PublicApi } from './public-api.ts';
import { Reconciliation } from './reconciliation.ts';
import { ServiceFunction } from './service-function.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { Store } from './store.ts';

export interface ServiceStackProps extends StackProps {
  readonly settings?: Partial<Settings>;
}

export class ServiceStack extends Stack {
  private readonly settings: Settings;
  private readonly store: Store;
  private readonly images: ImageDelivery;
  /** Of the key under which webhook secrets are stored. Rotate it by putting a new value: the previous one is held. */
  private readonly encryptionSecret: Secret;

  constructor(scope: Construct, id: string, props: ServiceStackProps = {}) {
    super(scope, id, { description: 'Darkroom: an asynchronous image-generation API', ...props });
    this.settings = { ...defaultSettings, ...props.settings };
    this.store = new Store(this, 'Store');
    this.images = new ImageDelivery(this, 'Images', { resultDays: this.settings.resultDays });
    this.encryptionSecret = new Secret(this, 'EncryptionSecret', {
      description: 'Darkroom: encrypts the webhook secrets of accounts',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const execution = this.addExecution();
    const api = this.addApi(execution);
    this.addReconciliation(execution);
    new CfnOutput(this, 'ApiUrl', { value: api.url });
    new CfnOutput(this, 'TableName', { value: this.store.table.tableName });
    new CfnOutput(this, 'StateMachineArn', { value: execution.stateMachine.stateMachineArn });
    new CfnOutput(this, 'EncryptionSecretArn', { value: this.encryptionSecret.secretArn });
    new CfnOutput(this, 'ResultsBaseUrl', { value: this.images.baseUrl });
  }

  private addExecution(): CreationExecution {
    const renderImage = this.addFunction('RenderImage', 'workflow/render-image', {
      description: 'Renders the image of a creation and completes it',
      // Above the longest deadline of a creation, 12 minutes.
      timeout: Duration.seconds(780),
      memoryMegabytes: 1769,
    });
    renderImage.addEnvironment('RESULT_DAYS', String(this.settings.resultDays));
    this.store.grant(renderImage, 'UpdateItem');
    this.images.grantStore(renderImage);

    const refundCharge = this.addFunction('RefundCharge', 'workflow/refund-charge', {
      description: 'Fails a creation and gives its charge back',
    });
    this.store.grant(refundCharge, 'GetItem', 'UpdateItem', 'PutItem');

    const deliverWebhook = this.addFunction('DeliverWebhook', 'workflow/deliver-webhook', {
      description: 'Sends one attempt of a webhook',
    });
    deliverWebhook.addEnvironment('RESULTS_BASE_URL', this.images.baseUrl);
    deliverWebhook.addEnvironment('ENCRYPTION_SECRET_ARN', this.encryptionSecret.secretArn);
    deliverWebhook.addEnvironment('OUTBOUND_RULES', 'public');
    this.store.grant(deliverWebhook, 'GetItem', 'UpdateItem', 'PutItem');
    this.encryptionSecret.grantRead(deliverWebhook);
    return new CreationExecution(this, 'Creation', { renderImage, refundCharge, deliverWebhook, logRetention: this.settings.logRetention });
  }

  private addApi(execution: CreationExecution): PublicApi {
    const names = Object.keys(operations) as OperationName[];
    const functions = Object.fromEntries(names.map((name) => [name, this.addApiFunction(name)])) as Record<OperationName, ServiceFunction>;
    const unknownRoute = this.addApiFunction('unknownRoute');
    for (const fn of [...Object.values(functions), unknownRoute]) this.store.grant(fn, 'BatchGetItem', 'UpdateItem');

    this.store.grantListing(functions.listCreations);
    const { generateImage } = functions;
    generateImage.addEnvironment('OUTBOUND_RULES', 'public');
    generateImage.addEnvironment('TOP_UP_URL', this.settings.topUpUrl);
    this.store.grant(generateImage, 'GetItem', 'PutItem');
    this.images.grantStoreSources(generateImage);
    execution.grantStart(generateImage);
    return new PublicApi(this, 'Api', { operations: functions, unknownRoute });
  }

  private addReconciliation(execution: CreationExecution): void {
    const reconcile = this.addFunction('Reconcile', 'schedule/reconcile', {
      description: 'Starts what was charged and never started, restarts what died, refunds what is late',
      timeout: Duration.seconds(55),
    });
    this.store.grant(reconcile, 'GetItem', 'UpdateItem', 'PutItem');
    this.store.grantOpenWork(reconcile);
    execution.grantStart(reconcile);
    execution.grantDescribe(reconcile);
    new Reconciliation(this, 'Reconciliation', { reconcile, stateMachine: execution.stateMachine });
  }

  private addApiFunction(name: OperationName | 'unknownRoute'): ServiceFunction {
    const handler = name === 'unknownRoute' ? 'unknown-route' : operations[name].handler;
    const path = name === 'unknownRoute' ? 'what no route takes' : `${operations[name].method} ${operations[name].path}`;
    const fn = this.addFunction(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, `api/${handler}`, {
      description: `Answers ${path}`,
      timeout: Duration.seconds(29),
      memoryMegabytes: 1024,
    });
    fn.addEnvironment('RESULTS_BASE_URL', this.images.baseUrl);
    fn.addEnvironment('AUTH_FAILURE_FORM', this.settings.authFailureForm);
    return fn;
  }

  private addFunction(
    id: string,
    entry: string,
    { description, timeout = Duration.seconds(30), memoryMegabytes = 512 }: { description: string; timeout?: Duration; memoryMegabytes?: number },
  ): ServiceFunction {
    return new ServiceFunction(this, id, { entry, description, timeout, memoryMegabytes, logRetention: this.settings.logRetention });
  }
}
