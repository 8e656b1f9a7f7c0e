exports.handler = async (event) => ({ from: 'commonjs', event });
