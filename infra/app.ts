import { App, DefaultStackSynthesizer, type IReusableStackSynthesizer } from 'aws-cdk-lib/core';
import { FlightDelaysStack } from './flight-delays-stack.ts';

// The CDK CLI checks the bootstrap version by itself; the rule would only add a parameter that every
// reader of the template must understand. (The type is narrowed by hand: CDK is compiled without
// exact optional properties.)
const synthesizer = new DefaultStackSynthesizer({
  generateBootstrapVersionRule: false,
}) as IReusableStackSynthesizer;

const app = new App({ defaultStackSynthesizer: synthesizer });

// From the command line every context value is text: -c stage=test -c shards=8 -c ephemeral=true.
const shards: unknown = app.node.tryGetContext('shards');
const stage = app.node.tryGetContext('stage') as string | undefined;

// A stack for each stage: two of them stand side by side in one account.
const id = ['HoldfastFlightDelays', ...(stage === undefined ? [] : [stage])].join('-');
new FlightDelaysStack(app, id, {
  description: 'Holdfast demonstration: flight delays for each airport, with alerts',
  ephemeral: String(app.node.tryGetContext('ephemeral')) === 'true',
  ...(stage === undefined ? {} : { stage }),
  ...(shards === undefined ? {} : { shards: Number(shards) }),
});
