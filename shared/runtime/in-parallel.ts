/** Does something for each input, so many at a time, and gives the results in the order of the inputs. */
export async function inParallel<In, Out>(
  inputs: readonly In[],
  most: number,
  run: (input: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < inputs.length) {
      const at = next;
      next += 1;
      results[at] = await run(inputs[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, inputs.length) }, work));
  return results;
}
