// Creates nothing, and answers as its property `Answer` says.
export async function handler(event) {
  const { Answer: answer, ...properties } = event.ResourceProperties;
  if (answer === 'throw') throw new Error('creation is not possible');
  if (answer === 'silence') return;
  const { ResponseURL: url, ...request } = event;
  const body = {
    Status: answer === 'failed' ? 'FAILED' : 'SUCCESS',
    Reason: 'the moon is full',
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
    ...(answer !== 'no-id' && { PhysicalResourceId: 'thing-1' }),
    Data: {
      Greeting: `hello ${properties.Name}`,
      Seen: JSON.stringify({ ...request, ResourceProperties: properties }),
      ...(answer === 'long' && { Long: 'x'.repeat(5000) }),
    },
  };
  await fetch(url, { method: 'PUT', body: JSON.stringify(body) });
}
