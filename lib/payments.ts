import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Function as LambdaFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { stripeEventsRoute } from '../service/contract/operations.ts';
import type { PaymentSettings } from '../service/contract/payment-settings.ts';
import { acknowledge, allow } from './acknowledge.ts';
import type { NoticeExecution } from './notice-execution.ts';
import type { AddFunction, ServiceFunction } from './service-function.ts';
import { addOutput } from './service-scope.ts';
import type { Settings } from './settings.ts';
import type { Partition, Store } from './store.ts';

export interface PaymentsProps {
  readonly settings: NonNullable<Settings['payments']>['stripe'];
  readonly add: AddFunction;
  /** The function, or the alias that gets its requests. */
  readonly live: (fn: ServiceFunction) => IFunction;
  readonly httpApi: HttpApi;
  readonly store: Store;
  readonly notices: NoticeExecution;
  /** The function of the portal that answers for payments. */
  readonly portalPay: ServiceFunction;
  readonly portalUrl: string;
}

/** What a payment changes. */
const items: readonly Partition[] = ['ACCOUNT#*', 'NOTICE#*'];

/** Payments through Stripe: three functions, which alone read the secret. */
export class Payments extends Construct {
  constructor(scope: Construct, id: string, props: PaymentsProps) {
    super(scope, id);
    const { add, live, httpApi, portalPay, settings, portalUrl, store, notices } = props;
    const secret = this.addSecret();
    const { automaticTax, taxIds, invoices, suspendOnDispute } = settings;
    const stated: PaymentSettings = {
      base_url: null,
      automatic_tax: automaticTax,
      tax_ids: taxIds,
      invoices,
      suspend_on_dispute: suspendOnDispute,
    };
    const receive = add('ReceivePayment', 'receive-payment', {
      description: 'Takes the events of Stripe, and reads what is true at Stripe',
      timeout: Duration.seconds(29),
      memoryMegabytes: 512,
    });
    const follow = add('FollowPayments', 'follow-payments', {
      description: 'Follows payments that no event has ended, and begins automatic top-ups',
      timeout: Duration.minutes(5),
      memoryMegabytes: 512,
    });
    for (const fn of [receive, follow, portalPay]) {
      fn.addEnvironment('PAYMENT_SECRET_ARN', secret.secretArn);
      fn.addEnvironment('PAYMENT_SETTINGS', Stack.of(this).toJsonString(stated));
      allow(fn, ['secretsmanager:GetSecretValue'], [secret.secretArn]);
      store.grantRead(fn, 'BatchGetItem', 'GetItem');
      notices.grantStart(fn);
    }
    for (const fn of [receive, follow]) fn.addEnvironment('PORTAL_URL', portalUrl);
    store.grantWrite(receive, items, 'PutItem', 'UpdateItem');
    // A payment begins only while the wallet is low and the events are read: their cursor is in PAYMENTS.
    store.grantWrite(follow, [...items, 'PAYMENTS'], 'ConditionCheckItem', 'PutItem', 'UpdateItem');
    // The portal lists the payments of an account, and those that are held.
    store.grantRead(portalPay, 'Query');
    for (const fn of [follow, portalPay]) store.grantOpenWork(fn);
    this.schedule(follow);
    httpApi.addRoutes({
      path: stripeEventsRoute,
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration('receivePayment', live(receive)),
    });
    addOutput(this, 'PaymentSecretArn', { value: secret.secretArn });
    addOutput(this, 'PaymentSettings', { value: Stack.of(this).toJsonString(stated) });
  }

  private schedule(follow: LambdaFunction): void {
    // A second try would run beside the run of the next minute.
    follow.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    new Rule(this, 'EveryMinute', {
      description: 'Darkroom: follows payments, and begins automatic top-ups',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaTarget(follow)],
    });
  }

  private addSecret(): Secret {
    const secret = new Secret(this, 'Secret', {
      description: 'Darkroom: the key and the webhook secrets of Stripe, which `payments set-stripe` writes',
      generateSecretString: { secretStringTemplate: '{}', generateStringKey: 'unused' },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    acknowledge(secret, {
      'AwsSolutions-SMG4': 'Stripe issues the key and the secrets: nothing here could draw a new one.',
    });
    return secret;
  }
}
